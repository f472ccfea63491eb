import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { childNames } from "../../api/names.ts";
import {
  type Condition,
  type ConditionType,
  parseSpec,
  type TradingEngineStatus,
} from "../../api/tradingEngine/index.ts";
import {
  ApiError,
  type Draft,
  type KubeClient,
  type KubeObject,
  type ObjectRef,
  type Pod,
  pods,
  type RawRequest,
  type Resource,
} from "../../reconciler/kube/index.ts";
import { readConfig } from "../orders/config.ts";
import { createControlServer } from "../orders/controlServer.ts";
import { FakeReplicas } from "../orders/fakeReplicas.ts";
import { type OrderClient, startOrderClient } from "../orders/orderClient.ts";
import type { ReplicaHistory } from "../orders/replicaHistory.ts";
import { type TradingEngineObject, tradingEngines } from "./engines.ts";

/** How the cluster answers the loss of the primary; times in milliseconds after it. */
export interface Script {
  readonly electAfterMs: number;
  readonly repairAfterMs: number;
  /** Replicas whose state differs from the others'. */
  readonly diverged?: readonly string[];
}

const engine = "e";
const namespace = "trading";

/**
 * One TradingEngine as a cluster shows it, played by a script: the replicas are fakes that share a
 * journal, the order client behind the pod proxy is real.
 */
export class ScriptedCluster {
  readonly #script: Script;
  readonly #replicas: FakeReplicas;
  readonly #pods = new Map<string, Pod>();
  readonly #orderClients = new Map<string, { client: OrderClient; server: Server }>();
  readonly #timers: NodeJS.Timeout[] = [];
  #status: TradingEngineStatus;
  #uids = 0;

  private constructor(script: Script, replicas: FakeReplicas) {
    this.#script = script;
    this.#replicas = replicas;
    for (const ordinal of [0, 1, 2]) this.#runPod(ordinal);
    this.#status = this.#trading("e-0", 1, 3);
  }

  static async start(script: Script): Promise<ScriptedCluster> {
    return new ScriptedCluster(script, await FakeReplicas.start(3));
  }

  /** Names of the pods there are, the order client's included. */
  get podNames(): readonly string[] {
    return [...this.#pods.keys()].sort();
  }

  /** The calls of a KubeClient that a scenario makes. */
  get client(): KubeClient {
    const calls: Pick<KubeClient, "get" | "list" | "create" | "delete" | "raw"> = {
      get: (resource, ref) => this.#as(() => this.#get(resource, ref)),
      list: (resource) => this.#as(() => ({ metadata: { resourceVersion: "1" }, items: this.#list(resource) })),
      create: async (resource, object) => (await this.#create(resource, object)) as never,
      delete: (resource, ref) => this.#as(() => this.#delete(resource, ref)),
      raw: (request) => this.#proxy(request),
    };
    return calls as KubeClient;
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const pod of [...this.#orderClients.keys()]) await this.#stopOrderClient(pod);
    this.#replicas.close();
  }

  /** Answers as a remote would: later, and with whatever type the caller asked for. */
  #as<T>(work: () => unknown): Promise<T> {
    return Promise.resolve().then(() => work() as T);
  }

  #get(resource: Resource<KubeObject>, { name }: ObjectRef): KubeObject {
    if (resource.plural === tradingEngines.plural && name === engine) return this.#engine();
    const pod = resource === pods ? this.#pods.get(name) : undefined;
    if (pod === undefined) throw new ApiError({ kind: "notFound", message: `${resource.plural} ${name} not found` });
    return pod;
  }

  #list(resource: Resource<KubeObject>): readonly KubeObject[] {
    return resource === pods ? [...this.#pods.values()].filter(({ metadata }) => /^e-\d$/.test(metadata.name)) : [];
  }

  async #create(resource: Resource<KubeObject>, draft: Draft<KubeObject>): Promise<KubeObject> {
    const { name } = draft.metadata;
    const stored = this.#metadata(name);
    const object = { ...draft, apiVersion: "v1", kind: resource.kind, metadata: { ...draft.metadata, ...stored } };
    if (resource !== pods) return object;
    this.#pods.set(name, object);
    await this.#startOrderClient(name, object);
    return object;
  }

  async #delete(resource: Resource<KubeObject>, { name }: ObjectRef): Promise<void> {
    if (resource !== pods || !this.#pods.delete(name)) return;
    if (this.#orderClients.has(name)) await this.#stopOrderClient(name);
    else this.#losePrimary(name);
  }

  #losePrimary(lost: string): void {
    this.#replicas.killPrimary();
    this.#status = { ...this.#status, readyReplicas: 2, primary: "" };
    this.#after(this.#script.electAfterMs, () => {
      this.#replicas.promote(1);
      this.#status = this.#trading("e-1", 2, 2);
    });
    this.#after(this.#script.repairAfterMs, () => {
      this.#runPod(Number(lost.slice(-1)));
      const time = new Date().toISOString();
      const lastUpdate = { time, result: "succeeded", durationMs: 1200, reason: "Failover" } as const;
      this.#status = { ...this.#trading("e-1", 2, 3), lastUpdate };
    });
  }

  #after(ms: number, work: () => void): void {
    this.#timers.push(setTimeout(work, ms));
  }

  async #startOrderClient(name: string, pod: Pod): Promise<void> {
    const env = Object.fromEntries((pod.spec?.containers[0]?.env ?? []).map((entry) => [entry.name, entry.value]));
    const config = readConfig(env);
    // The names in the pod's environment are those of a cluster; here the replicas are on loopback.
    const client = startOrderClient({
      ...config.client,
      destination: { kind: "replicas", targets: this.#replicas.addresses },
    });
    const server = createControlServer(client, this.#history());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.#orderClients.set(name, { client, server });
  }

  async #stopOrderClient(name: string): Promise<void> {
    const running = this.#orderClients.get(name);
    this.#orderClients.delete(name);
    running?.server.close();
    running?.server.closeAllConnections();
    await running?.client.stop(0);
  }

  #history(): ReplicaHistory {
    const answer = (contentType: string, text: string) =>
      Promise.resolve({ status: 200, contentType, body: Readable.from([text]) });
    const lines = () => this.#replicas.journal.map((record) => `${JSON.stringify(record)}\n`).join("");
    return {
      journal: () => answer("application/x-ndjson", lines()),
      status: (instance) => answer("application/json", JSON.stringify(this.#engineStatus(instance))),
    };
  }

  async #proxy({ method, path }: RawRequest): ReturnType<KubeClient["raw"]> {
    const [, pod = "", rest = ""] = /\/pods\/([^:]+):7090\/proxy(.*)$/.exec(path) ?? [];
    const running = this.#orderClients.get(pod);
    if (running === undefined) throw new ApiError({ kind: "notFound", message: `no pod behind ${path}` });
    const { port } = running.server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${rest}`, { method });
    return { code: response.status, headers: {}, body: await response.text() };
  }

  #metadata(name: string) {
    this.#uids++;
    const uid = `uid-${this.#uids}`;
    return { name, namespace, uid, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  }

  #runPod(ordinal: number): void {
    const name = childNames(engine).pod(ordinal);
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    this.#pods.set(name, { apiVersion: "v1", kind: "Pod", metadata: this.#metadata(name), status });
  }

  #engine(): TradingEngineObject {
    const spec = parseSpec({ tradingPair: "BTC/USDT", image: "engine:1" });
    if (!spec.ok) throw new Error("the spec of the scripted engine is wrong");
    const metadata = { ...this.#metadata(engine), generation: 1 };
    return { apiVersion: "v1", kind: "TradingEngine", metadata, spec: spec.value, status: this.#status };
  }

  #trading(primary: string, epoch: number, readyReplicas: number): TradingEngineStatus {
    const isWhole = readyReplicas === 3;
    const conditions = [judged("Ready", isWhole), judged("Progressing", !isWhole)];
    return { observedGeneration: 1, primary, epoch, readyReplicas, conditions };
  }

  #engineStatus(instance: string): object {
    const seq = this.#replicas.journal.length;
    const hash = this.#script.diverged?.includes(instance) === true ? "other" : "same";
    const position = { epoch: 2, seq };
    return {
      contractVersion: 1,
      instance,
      clusterUid: `${namespace}/${engine}`,
      processId: "p",
      role: "standby",
      epoch: { current: 2, promised: 2, startSeq: 1 },
      blank: false,
      durable: position,
      watermarks: { received: seq, durable: seq, committed: seq, applied: seq },
      lastHash: { seq, hash },
      sync: null,
      upstream: null,
      writePath: { lastSyncAgeMs: 0, stalled: false },
      loopLagMs: 0,
      ready: true,
      readyReason: "",
      journal: { firstSeq: 1, lastSeq: seq, bytes: 0, cutTails: 0 },
      diskFreeBytes: 1,
      configHash: "",
      build: "fake",
      capabilities: [],
      lastError: null,
    };
  }
}

const judged = (type: ConditionType, holds: boolean): Condition => ({
  type,
  status: holds ? "True" : "False",
  reason: "AsScripted",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
