/** An API server without controllers, with the shape lane at work on it by real Pulumi. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseTradingEngine, type TradingEngine } from "../../api/tradingEngine/index.ts";
import { toolFolder, tools } from "../../local/toolchain/manifest.ts";
import {
  createEventRecorder,
  createInformer,
  createKubeClient,
  type Event,
  events as eventResource,
  isNotFound,
  type KubeClient,
  type KubeObject,
  loadClusterAccess,
  type NamespacedObject,
  namespaces,
  objectKey,
  persistentVolumeClaims,
  type Resource,
  silentLogger,
  statefulSets,
  systemClock,
} from "../../reconciler/kube/index.ts";
import {
  createShapeLane,
  followEngines,
  readProgramVersion,
  type ShapeLane,
  type ShapeLaneConfig,
  type ShapeResult,
} from "../../reconciler/shape/index.ts";
import { tradingEngines } from "../../reconciler/tradingEngine/index.ts";
import { connectApiClient } from "../apiServer/apiClient.ts";
import { type ApiServer, startApiServer } from "../apiServer/startApiServer.ts";
import { installTradingEngineCrd } from "../apiServer/tradingEngines.ts";
import { waitFor } from "../support/waitFor.ts";

export const namespace = "trading";

export interface ShapeCluster {
  readonly server: ApiServer;
  readonly client: KubeClient;
  readonly stop: () => Promise<void>;
}

export const startShapeCluster = async (): Promise<ShapeCluster> => {
  const server = await startApiServer();
  const api = await connectApiClient(server);
  await installTradingEngineCrd(api);
  await api.close();
  const access = await loadClusterAccess({ kubeconfig: server.kubeconfigPath });
  const client = createKubeClient({ access, userAgent: "shape-test" });
  await client.create(namespaces, { metadata: { name: namespace } });
  const stopping = new AbortController();
  releaseDeleted(client, stopping.signal);
  return {
    server,
    client,
    stop: async () => {
      stopping.abort();
      await client.close();
      await server.stop();
    },
  };
};

/**
 * What two controllers of a real cluster do to deleted objects: let claims go that no pod uses any more, and StatefulSets
 * whose pods are to be left alone.
 */
const releaseDeleted = (client: KubeClient, signal: AbortSignal): void => {
  for (const resource of [persistentVolumeClaims, statefulSets]) {
    const informer = createInformer<NamespacedObject>({ client, resource, namespace });
    informer.onChange(({ type, object: { metadata } }) => {
      if (type === "deleted" || metadata.deletionTimestamp === undefined) return;
      client
        .patch<NamespacedObject>(resource, metadata, { metadata: { finalizers: null } }, { type: "merge" })
        .catch((error: unknown) => assert.ok(isNotFound(error), String(error)));
    });
    informer.start(signal);
  }
};

/** One daemon's shape lane. */
export interface RunningLane {
  readonly lane: ShapeLane;
  /** Every result that it reported, in order. */
  readonly results: readonly { readonly key: string; readonly result: ShapeResult }[];
  /** Waits for a result that `accept` takes, from the `since`th on. */
  readonly result: (key: string, accept: (result: ShapeResult) => boolean, since?: number) => Promise<ShapeResult>;
  readonly stop: () => Promise<void>;
}

const runDeadlineMs = 120_000;

export const startLane = async (
  { server, client }: ShapeCluster,
  change: Partial<ShapeLaneConfig> = {},
): Promise<RunningLane> => {
  const root = await mkdtemp(join(tmpdir(), "shape-lane-"));
  const plugins = join(root, "plugins");
  const provider = tools["pulumi-resource-kubernetes"];
  await symlinkFolder(toolFolder(provider), join(plugins, `resource-kubernetes-${provider.version}`));
  const stopping = new AbortController();
  const informer = createInformer<NamespacedObject>({ client, resource: tradingEngines, namespace });
  const events = createEventRecorder({ client, component: "enginekeeper.dev/test", instance: "test" });
  const lane = createShapeLane({
    client,
    namespaces: [namespace],
    engineOf: (key) => readEngine(informer.store.byKey(key)),
    events,
    clock: systemClock,
    random: randomBytes,
    logger: { info: () => undefined, ...silentLogger },
    env: { ...process.env, PULUMI_CONFIG_PASSPHRASE: "passphrase of the test" },
    config: {
      operatorNamespace: "enginekeeper-system",
      programVersion: await readProgramVersion(),
      pulumiFolder: toolFolder(tools.pulumi),
      pluginsFolder: plugins,
      kubeconfig: server.kubeconfigPath,
      scratch: join(root, "scratch"),
      concurrency: 2,
      upDeadlineMs: 60_000,
      ...change,
    },
  });
  const results: { key: string; result: ShapeResult }[] = [];
  lane.onResult((key, result) => void results.push({ key, result }));
  informer.start(stopping.signal);
  await informer.whenSynced(stopping.signal);
  const unfollow = followEngines(informer, lane.request);
  const running = lane.run(stopping.signal);
  return {
    lane,
    results,
    result: async (key, accept, since = 0) => {
      const seen = await waitFor({
        what: `a result of ${key}`,
        deadlineMs: runDeadlineMs,
        everyMs: 20,
        look: () => Promise.resolve(results.slice(since).filter((entry) => entry.key === key)),
        until: (entries) => entries.some(({ result }) => accept(result)),
      });
      const found = seen.find(({ result }) => accept(result));
      if (found === undefined) throw new Error("waitFor answered without what it waited for");
      return found.result;
    },
    stop: async () => {
      unfollow();
      stopping.abort();
      await running;
      await events.stop(AbortSignal.timeout(2_000));
      await rm(root, { recursive: true, force: true });
    },
  };
};

const symlinkFolder = async (target: string, path: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path);
};

const readEngine = (object: NamespacedObject | undefined): TradingEngine | undefined => {
  const parsed = object === undefined ? undefined : parseTradingEngine(object);
  return parsed?.ok === true ? parsed.value : undefined;
};

/** Creates a TradingEngine; answers its key. */
export const createEngine = async ({ client }: ShapeCluster, name: string, spec: object = {}): Promise<string> => {
  const created = await client.create(tradingEngines, {
    metadata: { name, namespace },
    ...{
      spec: { tradingPair: "BTC/USDT", image: "registry.example.com/engine:1.0", storageClassName: "fast", ...spec },
    },
  });
  return objectKey(created);
};

export const patchEngine = async ({ client }: ShapeCluster, name: string, spec: object): Promise<NamespacedObject> =>
  client.patch(tradingEngines, { namespace, name }, { spec }, { type: "merge" });

export const eventsOf = async ({ client }: ShapeCluster, engine: string, reason: string): Promise<readonly Event[]> =>
  (await client.list(eventResource, { namespace })).items.filter(
    (event) => event.regarding?.name === engine && event.reason === reason,
  );

/** The object of this name, or undefined when there is none. */
export const find = async <T extends KubeObject>(
  { client }: ShapeCluster,
  resource: Resource<T>,
  name: string,
): Promise<T | undefined> => {
  try {
    return await client.get(resource, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};
