import type { TradingEngineSpecInput } from "../../api/tradingEngine/index.ts";
import { defaultOperatorNamespace } from "../../infra/operator.ts";
import { type ClusterLayout, type ClusterName, clusterLayout, clusterNumbers } from "../../local/cluster/layout.ts";
import {
  type ClusterAccess,
  createKubeClient,
  type KubeClient,
  loadClusterAccess,
} from "../../reconciler/kube/index.ts";
import {
  applyEngine,
  deleteEngine,
  deleteVolumes,
  type EngineRef,
  getEngine,
  waitUntilSettled,
} from "../support/engines.ts";

/** A running cluster with the platform installed, as the environment describes it. */
export interface TestCluster {
  readonly access: ClusterAccess;
  readonly client: KubeClient;
  /** Where the tests' engines live. */
  readonly namespace: string;
  /** Where the daemon runs. */
  readonly operatorNamespace: string;
  readonly image: string;
  readonly storageClassName: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Connects by KUBECONFIG and EK_CONTEXT (default: its current context). EK_NAMESPACE, EK_OPERATOR_NAMESPACE,
 * EK_ENGINE_IMAGE and EK_STORAGE_CLASS replace what the embedded cluster has.
 */
export async function connectTestCluster(env: Environment = process.env): Promise<TestCluster> {
  const context = env["EK_CONTEXT"];
  const access = await loadClusterAccess(context === undefined ? {} : { context });
  return {
    access,
    client: createKubeClient({ access, userAgent: "enginekeeper-test" }),
    namespace: env["EK_NAMESPACE"] ?? "trading",
    operatorNamespace: env["EK_OPERATOR_NAMESPACE"] ?? defaultOperatorNamespace,
    image: env["EK_ENGINE_IMAGE"] ?? "localhost/enginekeeper/engine:dev",
    storageClassName: env["EK_STORAGE_CLASS"] ?? "local",
  };
}

/** The embedded cluster that the tests run on, by EK_CLUSTER; undefined on any other cluster, whose nodes are out of reach. */
export const embeddedLayout = (env: Environment): ClusterLayout | undefined => {
  const name = env["EK_CLUSTER"] ?? "";
  return Object.hasOwn(clusterNumbers, name) ? clusterLayout(name as ClusterName) : undefined;
};

/** A small engine of three replicas, for a machine that runs several at a time. */
export const engineSpec = (cluster: TestCluster): TradingEngineSpecInput => ({
  tradingPair: "BTC/USDT",
  image: cluster.image,
  replicas: 3,
  storageClassName: cluster.storageClassName,
  storage: { size: "1Gi" },
  resources: { requests: { cpu: "50m", memory: "96Mi" }, limits: { memory: "512Mi" } },
  config: { tickSize: "0.01", lotSize: "0.00001" },
});

/** Creation pulls no image and waits for no node, but three engines may start on a busy machine at once. */
export const createDeadlineMs = 180_000;
const deleteDeadlineMs = 120_000;

type SpecChanges = Partial<TradingEngineSpecInput>;

/** Creates engine `name` with `changes` to {@link engineSpec}; what an earlier run left of it is removed first. */
export async function createEngine(cluster: TestCluster, name: string, changes: SpecChanges = {}): Promise<EngineRef> {
  const ref: EngineRef = { client: cluster.client, namespace: cluster.namespace, engine: name };
  await removeEngine(ref);
  await applyEngine(ref, { ...engineSpec(cluster), ...changes });
  return ref;
}

/** As {@link createEngine}, and waits until it trades with every replica ready. */
export async function createTradingEngine(
  cluster: TestCluster,
  name: string,
  changes: SpecChanges = {},
): Promise<EngineRef> {
  const ref = await createEngine(cluster, name, changes);
  await waitUntilSettled(ref, createDeadlineMs);
  return ref;
}

/** Leaves nothing of the engine, its volume claims included. */
export async function removeEngine(ref: EngineRef): Promise<void> {
  await deleteEngine(ref, deleteDeadlineMs);
  await deleteVolumes(ref);
}

/** Primary and epoch as status shows them; fails when there is no primary. */
export async function leaderOf(ref: EngineRef): Promise<{ primary: string; epoch: number }> {
  const { status } = await getEngine(ref);
  const { primary = "", epoch = 0 } = status ?? {};
  if (primary === "") throw new Error(`${ref.engine} has no primary`);
  return { primary, epoch };
}

/** Log lines of a scenario, as notes of the test. */
export const logTo =
  (test: { diagnostic(message: string): void }) =>
  (message: string): void =>
    test.diagnostic(message);
