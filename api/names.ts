/**
 * Every name that two folders must agree on: the API group, labels, annotations, field
 * managers, ports, and the fixed names of an engine's children.
 */

export const group = "enginekeeper.dev";
export const version = "v1alpha1";
export const apiVersion = `${group}/${version}`;

export const tradingEngineKind = "TradingEngine";
export const tradingEnginePlural = "tradingengines";

/** Held on a TradingEngine until its children are taken down in order. */
export const finalizer = `${group}/engine`;

/** Label keys. */
export const labels = {
  /** Name of the TradingEngine; on every child and on the pods. */
  engine: `${group}/engine`,
  /** `primary` or `standby`; on pods only, written by the role lane alone. */
  role: `${group}/role`,
  name: "app.kubernetes.io/name",
  instance: "app.kubernetes.io/instance",
  managedBy: "app.kubernetes.io/managed-by",
  partOf: "app.kubernetes.io/part-of",
} as const;

/** Values of {@link labels} that do not depend on the engine. */
export const labelValues = {
  name: "trading-engine",
  managedBy: "enginekeeper",
  partOf: "enginekeeper",
} as const;

/** Annotations that people set on a TradingEngine. */
export const annotations = {
  switchoverTo: `${group}/switchover-to`,
  restart: `${group}/restart`,
  reconcileNow: `${group}/reconcile-now`,
  /**
   * Names a rollout; whoever applies an engine sets it anew with each spec. It is echoed in
   * status.settledRollout when everything that came with it is in place, so that a client can
   * wait for its own change and not for the state before it.
   */
  rollout: `${group}/rollout`,
  /** Names the epoch it is good for. */
  allowDataLoss: `${group}/allow-data-loss`,
} as const;

/** Server-side apply field managers: one per writer, so that a conflict names its cause. */
export const fieldManagers = {
  /** The children of an engine, written through Pulumi. */
  shape: "enginekeeper-shape",
  /** Pod role labels and the Lease. */
  role: "enginekeeper-role",
  /** status of a TradingEngine. */
  status: "enginekeeper-status",
  /** metadata.finalizers of a TradingEngine. */
  lifecycle: "enginekeeper-lifecycle",
  /** A TradingEngine resource applied by an engineer's pair stack. */
  pair: "enginekeeper-pair",
} as const;

/** TCP ports of an engine's container. */
export const ports = {
  /** Order entry, HTTP. */
  orders: 7000,
  /** Market data feed. */
  feed: 7001,
  /** Control API, status stream, probes and metrics. */
  control: 7070,
  /** Journal replication between replicas. */
  replication: 7080,
} as const;

/** Where things are inside an engine's container. */
export const paths = {
  data: "/var/lib/engine",
  config: "/etc/engine/config/config.json",
  token: "/etc/engine/control/token",
} as const;

/** The fixed names of the children of engine `engine`; every lane derives them from here. */
export const childNames = (engine: string) =>
  ({
    statefulSet: engine,
    serviceAccount: engine,
    /** Routes to the primary. */
    primaryService: engine,
    standbyService: `${engine}-standby`,
    /** Headless: gives each replica its DNS name. */
    replicasService: `${engine}-replicas`,
    config: `${engine}-config`,
    controlSecret: `${engine}-control`,
    disruptionBudget: engine,
    networkPolicy: engine,
    /** coordination.k8s.io Lease: holderIdentity = primary pod, leaseTransitions = epoch. */
    lease: engine,
    /** Secret that holds the compressed Pulumi state of the engine's stack. */
    stackState: `${engine}-stack-state`,
    pod: (ordinal: number) => `${engine}-${ordinal}`,
    volume: (ordinal: number) => `data-${engine}-${ordinal}`,
  }) as const;

/** The identity that every replica of an engine shares, and that a foreign journal must not have. */
export const clusterUid = (namespace: string, engine: string): string => `${namespace}/${engine}`;

/** DNS name of one replica inside the cluster. */
export const replicaHost = (namespace: string, engine: string, ordinal: number): string =>
  `${engine}-${ordinal}.${engine}-replicas.${namespace}.svc`;
