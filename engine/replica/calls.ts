import type { Position } from "../journal/record.ts";
import type { ListenAddress } from "../process/config.ts";

/** Part of every call that changes something. The same opId gets the same answer. */
export interface CallIdentity {
  readonly clusterUid: string;
  readonly epoch: number;
  readonly opId: string;
}

export interface PromoteCall extends CallIdentity {
  readonly minPosition: Position;
  readonly members: readonly string[];
  readonly k: number;
  readonly resume: "open" | "cancelOnly";
}

export interface FollowCall extends CallIdentity {
  readonly upstream: { readonly instance: string; readonly replication: ListenAddress; readonly orders: string };
}

export interface DemoteCall extends CallIdentity {
  readonly deadlineMs: number;
}

export interface MembersCall extends CallIdentity {
  readonly version: number;
  readonly members: readonly string[];
  readonly k: number;
}

export interface DrainCall extends CallIdentity {
  readonly mode: "reject" | "cancelOnly";
  /** To wait for what was sequenced before; absent: answer at once. */
  readonly deadlineMs?: number;
}

export interface GrantCall extends CallIdentity {
  readonly ttlMs: number;
}

/** Belongs to no epoch: a snapshot is the same in each. */
export type SnapshotCall = Omit<CallIdentity, "epoch">;

/** A mutating call, as the control thread hands it over. */
export type ReplicaCall =
  | { readonly name: "fence"; readonly args: CallIdentity }
  | { readonly name: "promote"; readonly args: PromoteCall }
  | { readonly name: "follow"; readonly args: FollowCall }
  | { readonly name: "demote"; readonly args: DemoteCall }
  | { readonly name: "members"; readonly args: MembersCall }
  | { readonly name: "grant"; readonly args: GrantCall }
  | { readonly name: "drain"; readonly args: DrainCall }
  | { readonly name: "undrain"; readonly args: CallIdentity }
  | { readonly name: "snapshot"; readonly args: SnapshotCall };

export interface FenceAnswer {
  readonly instance: string;
  readonly promised: number;
  /** At or beyond everything that this replica ever acknowledged. */
  readonly durable: Position;
  readonly blank: boolean;
  /** This replica was primary until this call: it holds every acknowledged order. */
  readonly wasPrimary: boolean;
  /** The highest epoch that this replica was primary in, by its own journal; 0 if never. */
  readonly primaryEpoch: number;
}

/** Answer of promote and follow. */
export interface PlacedAnswer {
  readonly instance: string;
  readonly epoch: number;
  readonly durable: Position;
}

export interface DemoteAnswer {
  readonly instance: string;
  readonly final: Position;
}

export interface MembersAnswer {
  readonly instance: string;
  readonly version: number;
  readonly committed: number;
}

export interface GrantAnswer {
  readonly instance: string;
  readonly epoch: number;
  readonly ttlMs: number;
}

export interface SnapshotAnswer {
  readonly instance: string;
  /** Its id; GET /v1/snapshots/ID tells when it is done. */
  readonly snapshot: string;
}

export interface DrainAnswer {
  readonly instance: string;
  readonly intake: "open" | "cancelOnly" | "reject";
}
