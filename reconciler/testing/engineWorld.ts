/** Worlds for decision tests: a healthy engine of n replicas, and ways to break it. */
import type { EngineStatus } from "../../api/contract/v1.ts";
import { parseSpec, type TradingEngineSpec, type TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import type { StreamConnection, StreamView } from "../contract/index.ts";
import type { EngineSnapshot, LeaseView, PodView, ReplicaView } from "../observe/index.ts";

/** The instant that worlds are built for. */
export const now = 100_000;

export const specOf = (overrides: Record<string, unknown> = {}): TradingEngineSpec => {
  const parsed = parseSpec({
    tradingPair: "BTC/USDT",
    image: "registry.example.com/engine:1",
    storage: { size: "1Gi" },
    ...overrides,
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};

export const podName = (ordinal: number): string => `te-${ordinal}`;

export const podOf = (ordinal: number, overrides: Partial<PodView> = {}): PodView => ({
  name: podName(ordinal),
  uid: `uid-${ordinal}`,
  ip: `10.0.0.${ordinal + 1}`,
  node: `node-${ordinal}`,
  phase: "Running",
  terminating: false,
  ready: true,
  role: "standby",
  image: "registry.example.com/engine:1",
  outdated: false,
  container: { kind: "running" },
  lastExit: undefined,
  restarts: 0,
  unschedulable: undefined,
  nodeSchedulable: true,
  ...overrides,
});

export const statusOf = (ordinal: number, overrides: Partial<EngineStatus> = {}): EngineStatus => ({
  contractVersion: 1,
  instance: podName(ordinal),
  clusterUid: "trading/te",
  processId: `process-${ordinal}`,
  role: "standby",
  epoch: { current: 3, promised: 3, startSeq: 90 },
  blank: false,
  durable: { epoch: 3, seq: 100 },
  watermarks: { received: 100, durable: 100, committed: 100, applied: 100 },
  lastHash: { seq: 100, hash: "abc" },
  sync: null,
  upstream: null,
  writePath: { lastSyncAgeMs: 10, stalled: false },
  loopLagMs: 0,
  ready: true,
  readyReason: "ready",
  journal: { firstSeq: 1, lastSeq: 100, bytes: 1000, cutTails: 0 },
  diskFreeBytes: 1_000_000,
  configHash: "",
  build: "test",
  capabilities: [],
  lastError: null,
  lastApplyFault: null,
  ...overrides,
});

/** A replica that was never told anything and holds nothing. */
export const blankStatus = (ordinal: number): EngineStatus =>
  statusOf(ordinal, {
    epoch: { current: 0, promised: 0, startSeq: 0 },
    blank: true,
    durable: { epoch: 0, seq: 0 },
    ready: false,
    readyReason: "not told whom to follow",
  });

export const follows = (ordinal: number, primary: number, epoch = 3): EngineStatus =>
  statusOf(ordinal, { upstream: { instance: podName(primary), epoch, connected: true, lastHeardMs: 20 } });

export const leads = (ordinal: number, others: readonly number[], k = 1, epoch = 3): EngineStatus =>
  statusOf(ordinal, {
    role: "primary",
    epoch: { current: epoch, promised: epoch, startSeq: 90 },
    sync: {
      k,
      version: 1,
      satisfied: true,
      members: others.map((other) => ({ instance: podName(other), connected: true, durableSeq: 100, inSync: true })),
    },
  });

export const live = (status: EngineStatus, heardMsAgo = 50): StreamView => ({
  connection: { kind: "live", since: 0 },
  lastHeardAt: now - heardMsAgo,
  status,
});

export const ended = (
  before: StreamView | undefined,
  reason: (StreamConnection & { kind: "ended" })["reason"],
  msAgo = 5,
): StreamView => ({
  connection: { kind: "ended", since: now - msAgo, reason },
  lastHeardAt: before?.lastHeardAt,
  status: before?.status,
});

export const leaseOf = (overrides: Partial<LeaseView> = {}): LeaseView => ({
  resourceVersion: "7",
  holder: podName(0),
  epoch: 3,
  rule: undefined,
  established: true,
  seenAt: 0,
  ...overrides,
});

const published: TradingEngineStatus = { epoch: 3, primary: podName(0) };

/** A whole world; `replicas` by ordinal. */
export const worldOf = (
  replicas: readonly ReplicaView[],
  overrides: Partial<EngineSnapshot> & { readonly spec?: TradingEngineSpec } = {},
): EngineSnapshot => ({
  key: { namespace: "trading", name: "te" },
  uid: "engine-uid",
  generation: 1,
  deleting: false,
  annotations: {},
  spec: overrides.spec ?? specOf({ replicas: replicas.length }),
  published,
  lease: leaseOf(),
  replicas,
  shape: undefined,
  applied: true,
  pendingVolumes: [],
  lastStallFailoverAt: undefined,
  ...overrides,
});

export const replicaOf = (
  ordinal: number,
  stream: StreamView | undefined,
  pod: PodView | undefined = podOf(ordinal),
): ReplicaView => ({ name: podName(ordinal), ordinal, pod, stream });

/** n replicas: te-0 leads epoch 3, the others follow it and are in sync. */
export const healthy = (n = 3, overrides: Parameters<typeof worldOf>[1] = {}): EngineSnapshot => {
  const ordinals = Array.from({ length: n }, (_, ordinal) => ordinal);
  const k = n === 1 ? 0 : 1;
  const spec = specOf({
    replicas: n,
    failoverStrategy: n === 1 ? { syncStandbys: 0, durability: "Available" } : { syncStandbys: k },
  });
  return worldOf(
    ordinals.map((ordinal) =>
      ordinal === 0
        ? replicaOf(0, live(leads(0, ordinals.slice(1), k)), podOf(0, { role: "primary" }))
        : replicaOf(ordinal, live(follows(ordinal, 0))),
    ),
    { spec, lease: leaseOf({ rule: { members: ordinals.map(podName), k } }), ...overrides },
  );
};

/** The same world with one replica changed. */
export const withReplica = (
  world: EngineSnapshot,
  ordinal: number,
  change: (replica: ReplicaView) => Partial<ReplicaView>,
): EngineSnapshot => ({
  ...world,
  replicas: world.replicas.map((replica) =>
    replica.ordinal === ordinal ? { ...replica, ...change(replica) } : replica,
  ),
});

/** The same world with the status of one replica changed. */
export const withStatus = (
  world: EngineSnapshot,
  ordinal: number,
  change: (status: EngineStatus) => Partial<EngineStatus>,
): EngineSnapshot =>
  withReplica(world, ordinal, ({ stream }) =>
    stream?.status === undefined
      ? {}
      : { stream: { ...stream, status: { ...stream.status, ...change(stream.status) } } },
  );

export const withPod = (world: EngineSnapshot, ordinal: number, change: Partial<PodView>): EngineSnapshot =>
  withReplica(world, ordinal, ({ pod }) => (pod === undefined ? {} : { pod: { ...pod, ...change } }));

/** All standbys have noticed that their connection to te-0 is gone. */
export const standbysLost = (world: EngineSnapshot): EngineSnapshot =>
  world.replicas.reduce(
    (changed, { ordinal }) =>
      withStatus(changed, ordinal, ({ upstream }) =>
        upstream === null ? {} : { upstream: { ...upstream, connected: false } },
      ),
    world,
  );

/** All standbys are still connected to te-0 but have not heard it for `ms`. */
export const standbysSilent = (world: EngineSnapshot, ms: number): EngineSnapshot =>
  world.replicas.reduce(
    (changed, { ordinal }) =>
      withStatus(changed, ordinal, ({ upstream }) =>
        upstream === null ? {} : { upstream: { ...upstream, lastHeardMs: ms } },
      ),
    world,
  );

/** The stream of a replica ended with `reason`. */
export const dropped = (
  world: EngineSnapshot,
  ordinal: number,
  reason: Parameters<typeof ended>[1] = "reset",
  msAgo?: number,
): EngineSnapshot => withReplica(world, ordinal, ({ stream }) => ({ stream: ended(stream, reason, msAgo) }));

/** The stream of a replica is open but nothing was heard for `ms`. */
export const silent = (world: EngineSnapshot, ordinal: number, ms: number): EngineSnapshot =>
  withReplica(world, ordinal, ({ stream }) =>
    stream === undefined ? {} : { stream: { ...stream, lastHeardAt: now - ms } },
  );
