import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import {
  type ClusterAccess,
  configMaps,
  createKubeClient,
  isNotFound,
  namespaces,
  type ObjectRef,
  persistentVolumeClaims,
  pods,
  secrets,
} from "../../../reconciler/kube/index.ts";
import { type EngineHost, type EnginePlace, type EngineRun, kitConfig, kitToken, type Settings } from "./engineHost.ts";
import { configName, damageProgram, enginePod, tokenName } from "./enginePod.ts";
import { type Cluster, kitName, PodRun, runInHelper } from "./podRun.ts";

export interface ImageHostOptions {
  readonly access: ClusterAccess;
  readonly image: string;
  readonly helperImage: string;
  /** Null for the cluster's default. */
  readonly storageClass: string | null;
  readonly progress: (message: string) => void;
}

/** Runs engines as pods in a namespace of its own, on a cluster. Its pods must be reachable from here. */
export const openImageHost = async (options: ImageHostOptions): Promise<EngineHost> => {
  const { access } = options;
  const cluster: Cluster = { access, client: createKubeClient({ access, userAgent: kitName }) };
  const namespace = `conformance-${randomBytes(4).toString("hex")}`;
  await cluster.client.create(namespaces, { metadata: { name: namespace } });
  options.progress(`namespace ${namespace}`);
  const metadata = (name: string) => ({ namespace, name });
  const data = { "config.json": JSON.stringify(kitConfig) };
  await cluster.client.create(configMaps, { metadata: metadata(configName), data });
  await cluster.client.create(secrets, { metadata: metadata(tokenName), stringData: { token: kitToken } });
  return {
    subject: options.image,
    makePlace: (name) => PodPlace.make(cluster, { namespace, name }, options),
    async close() {
      try {
        await removeNamespace(cluster, namespace);
      } finally {
        await cluster.client.close();
      }
    },
  };
};

/** A volume claim, and the pods that use it one after the other. */
class PodPlace implements EnginePlace {
  readonly #cluster: Cluster;
  readonly #claim: { readonly namespace: string; readonly name: string };
  readonly #options: ImageHostOptions;
  readonly #runs: { readonly ref: ObjectRef; readonly run: PodRun }[] = [];
  #starts = 0;

  private constructor(cluster: Cluster, claim: { namespace: string; name: string }, options: ImageHostOptions) {
    this.#cluster = cluster;
    this.#claim = claim;
    this.#options = options;
  }

  static async make(
    cluster: Cluster,
    claim: { namespace: string; name: string },
    options: ImageHostOptions,
  ): Promise<PodPlace> {
    await cluster.client.create(persistentVolumeClaims, {
      metadata: claim,
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "64Mi" } },
        ...(options.storageClass === null ? {} : { storageClassName: options.storageClass }),
      },
    });
    return new PodPlace(cluster, claim, options);
  }

  async start(settings: Settings): Promise<EngineRun> {
    for (const { ref, run } of this.#runs) if (run.ended) await this.#removePod(ref);
    this.#starts += 1;
    const ref = { namespace: this.#claim.namespace, name: `${this.#claim.name}-${this.#starts}` };
    const { image, helperImage } = this.#options;
    await this.#cluster.client.create(
      pods,
      enginePod({ ...ref, claim: this.#claim.name, image, helperImage, settings }),
    );
    const run = await PodRun.of(this.#cluster, ref);
    this.#runs.push({ ref, run });
    return run;
  }

  async damageJournal(): Promise<void> {
    const last = this.#runs.at(-1);
    if (last === undefined) throw new Error(`nothing ever ran on ${this.#claim.name}`);
    await runInHelper(this.#cluster, last.ref, damageProgram);
  }

  async remove(): Promise<void> {
    await Promise.all(this.#runs.map(({ ref }) => this.#removePod(ref)));
    await this.#cluster.client.delete(persistentVolumeClaims, this.#claim).catch(unlessNotFound);
    await Promise.all(this.#runs.map(({ run }) => run.exited));
  }

  async #removePod(ref: ObjectRef): Promise<void> {
    await this.#cluster.client.delete(pods, ref, { gracePeriodSeconds: 0 }).catch(unlessNotFound);
  }
}

const removalDeadlineMs = 180_000;

const removeNamespace = async ({ client }: Cluster, name: string): Promise<void> => {
  await client.delete(namespaces, { name }).catch(unlessNotFound);
  const end = performance.now() + removalDeadlineMs;
  while (performance.now() < end) {
    const found = await client.get(namespaces, { name }).catch(unlessNotFound);
    if (found === undefined) return;
    await sleep(500);
  }
  throw new Error(`namespace ${name} is still there; remove it by hand: kubectl delete namespace ${name}`);
};

const unlessNotFound = (error: unknown): undefined => {
  if (!isNotFound(error)) throw error;
  return undefined;
};
