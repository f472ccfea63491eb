/**
 * What carrying out a plan needs from outside, for one engine. Narrow on purpose: a
 * simulation or a test gives its own, and the order of the writes can be cut at any point.
 */
import type {
  DemoteAnswer,
  EngineStatus,
  FenceAnswer,
  FollowAnswer,
  GrantAnswer,
  MembersAnswer,
  Position,
  PromoteAnswer,
} from "../../api/contract/v1.ts";
import type { Participant } from "../decide/index.ts";
import type { CommitRule } from "../observe/snapshot.ts";

/**
 * Calls of the engine contract. Each ends within its own deadline.
 * @throws {EngineRefusal} declined; nothing changed.
 * @throws {EngineUnanswered} unknown; the call may have taken effect.
 */
export interface EngineCalls {
  status(replica: Participant): Promise<EngineStatus>;
  fence(replica: Participant, epoch: number): Promise<FenceAnswer>;
  promote(replica: Participant, epoch: number, minPosition: Position, rule: CommitRule): Promise<PromoteAnswer>;
  follow(replica: Participant, epoch: number, upstream: Participant): Promise<FollowAnswer>;
  demote(replica: Participant, epoch: number): Promise<DemoteAnswer>;
  /** Permits a primary with k = 0 to acknowledge for `ttlMs`. */
  grant(replica: Participant, epoch: number, ttlMs: number): Promise<GrantAnswer>;
  /** @param version of the sync set: higher than the last one. */
  setMembers(replica: Participant, epoch: number, version: number, rule: CommitRule): Promise<MembersAnswer>;
}

export interface LeaseChange {
  /** The version that is replaced; undefined = the Lease must not exist yet. */
  readonly version: string | undefined;
  /** Empty while an election is under way. */
  readonly holder: string;
  readonly epoch: number;
  readonly rule: CommitRule;
  /** A primary is or was in place. */
  readonly established: boolean;
}

/** Somebody else changed the Lease first: look again. */
export class LeaseTaken extends Error {
  constructor(engine: string) {
    super(`the Lease of ${engine} was changed by somebody else`);
    this.name = "LeaseTaken";
  }
}

/** Writes to the API server, each with its own deadline. What is gone already counts as done. */
export interface RoleWrites {
  /**
   * Replaces the Lease if it still has the expected version.
   * @returns its new version.
   * @throws {LeaseTaken}
   */
  putLease(change: LeaseChange): Promise<string>;
  labelRole(pod: { readonly name: string; readonly uid: string }, role: "primary" | "standby"): Promise<void>;
  deletePod(pod: { readonly name: string; readonly uid: string }): Promise<void>;
  /** Takes an annotation off the TradingEngine if it still has this value. */
  dropAnnotation(name: string, value: string): Promise<void>;
}

export interface ActClock {
  /** Monotonic milliseconds. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export interface ActWorld {
  readonly calls: EngineCalls;
  readonly writes: RoleWrites;
  readonly clock: ActClock;
}
