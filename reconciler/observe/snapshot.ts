/**
 * One engine's world as the role lane sees it at one moment. Everything is a value and
 * nothing changes afterwards, so that a decision can be repeated, tabled and tested.
 * Instants are monotonic milliseconds of the observing process.
 */
import type { TradingEngineSpec, TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import type { StreamView } from "../contract/streamView.ts";

export interface EngineKey {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The rule by which an epoch acknowledges: an order is confirmed once the primary and `k`
 * of the other members hold it durably.
 */
export interface CommitRule {
  /** Names of all replicas that may hold a copy, the primary among them; sorted. */
  readonly members: readonly string[];
  readonly k: number;
}

/** The Lease of an engine: who leads, since which epoch, and by which rule that epoch acknowledges. */
export interface LeaseView {
  readonly resourceVersion: string;
  /** Pod of the primary; empty while an election is under way. */
  readonly holder: string;
  readonly epoch: number;
  /** Undefined on a Lease that nobody of ours wrote. */
  readonly rule: CommitRule | undefined;
  /** A primary was in place once: from then on an empty replica may not lead. */
  readonly established: boolean;
  /** When this holder and epoch were first seen here. */
  readonly seenAt: number;
}

/** The engine's container, as the kubelet reports it. */
export type ContainerState =
  | { readonly kind: "unknown" }
  | { readonly kind: "waiting"; readonly reason: string; readonly message: string }
  | { readonly kind: "running" }
  | { readonly kind: "terminated"; readonly exitCode: number; readonly reason: string; readonly message: string };

/** How a container's previous run ended. */
export interface LastExit {
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
}

export interface PodView {
  readonly name: string;
  readonly uid: string;
  /** Undefined until the pod has one. */
  readonly ip: string | undefined;
  readonly node: string | undefined;
  readonly phase: string;
  /** Deletion was asked for. */
  readonly terminating: boolean;
  readonly ready: boolean;
  /** Value of the role label. */
  readonly role: string | undefined;
  readonly image: string | undefined;
  /** Made from an older template than the StatefulSet has now. */
  readonly outdated: boolean;
  readonly container: ContainerState;
  readonly lastExit: LastExit | undefined;
  readonly restarts: number;
  /** The scheduler's words while no node takes the pod. */
  readonly unschedulable: string | undefined;
  /** The node accepts new pods and is not being emptied. */
  readonly nodeSchedulable: boolean;
}

/** A persistent volume claim that is not bound. */
export interface PendingVolume {
  readonly claim: string;
  readonly storageClass: string | undefined;
  /** False when the named class does not exist. */
  readonly classExists: boolean;
}

/** One place of the StatefulSet, whether a pod fills it or not. */
export interface ReplicaView {
  readonly name: string;
  readonly ordinal: number;
  readonly pod: PodView | undefined;
  /** Of exactly this pod (by UID). */
  readonly stream: StreamView | undefined;
}

/** What the shape lane last achieved. */
export interface ShapeView {
  readonly time: string;
  readonly result: "succeeded" | "failed" | "timedOut" | "refused";
  readonly reason: string;
  readonly durationMs: number;
  readonly changes: Readonly<Record<string, number>>;
  readonly message?: string;
  /** The generation of the spec that it is good for. */
  readonly generation: number;
}

export interface EngineSnapshot {
  readonly key: EngineKey;
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: TradingEngineSpec;
  /** As published last, by whichever replica of the reconciler. */
  readonly published: TradingEngineStatus | undefined;
  readonly lease: LeaseView | undefined;
  /** By ordinal; the wanted ones first, then those that are still there. */
  readonly replicas: readonly ReplicaView[];
  readonly shape: ShapeView | undefined;
  /** The engine's objects are as this generation of the spec wants them, and the StatefulSet's controller has seen it. */
  readonly applied: boolean;
  readonly pendingVolumes: readonly PendingVolume[];
  /** Last time that a living but stalled primary was replaced by this process. */
  readonly lastStallFailoverAt: number | undefined;
}
