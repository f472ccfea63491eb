/** What is to be done next for one engine, as data: decided here, carried out by act/. */
import type { CommitRule } from "../observe/snapshot.ts";
import type { DeathCause, PrimaryVerdict } from "./verdict.ts";

/** Why an election is held. */
export type ElectionCause =
  | DeathCause
  /** The first primary of an engine. */
  | "Bootstrap"
  /** There was a primary once, and an election was left half-done. */
  | "Resumed"
  | "WriteStalled"
  /** A person asked for it. */
  | "Requested"
  /** The primary's pod is being deleted, its node emptied, or its place removed. */
  | "PodLeaving"
  /** The primary's pod is to be replaced by an updated one. */
  | "Rollout";

/** A replica that can take part in an election. */
export interface Participant {
  readonly name: string;
  readonly ordinal: number;
  readonly pod: { readonly name: string; readonly uid: string; readonly ip: string };
  /** It answers now, so that its promise is worth waiting for. */
  readonly answers: boolean;
  readonly ready: boolean;
  readonly outdated: boolean;
  readonly nodeSchedulable: boolean;
  readonly role: string | undefined;
}

/** Who must be heard before anybody may lead. */
export interface Electorate {
  /** The rule that earlier epochs may have acknowledged by. */
  readonly rule: CommitRule;
  /** No order was ever taken: every member must answer, and hold nothing. */
  readonly first: boolean;
  /**
   * The epoch in which a replica must have led for its answer to count as everybody's: the latest that anyone knows
   * of. 0 = no single answer can.
   */
  readonly decisiveEpoch: number;
}

export interface ElectionPlan {
  readonly kind: "elect";
  readonly cause: ElectionCause;
  readonly from: string | undefined;
  /** First sign of what is now acted on; monotonic milliseconds. */
  readonly since: number;
  readonly epoch: number;
  /** Of the Lease that is to be replaced; undefined = there is none yet. */
  readonly leaseVersion: string | undefined;
  readonly electorate: Electorate;
  /** What the new epoch acknowledges by. */
  readonly nextRule: CommitRule;
  readonly participants: readonly Participant[];
  /** Wins among equals. */
  readonly prefer: string | undefined;
  /** Wins only where the others cannot do without it. */
  readonly avoid: readonly string[];
  /** A living primary that is asked to finish its work first. */
  readonly drain: Drain | undefined;
}

/** A planned move: the primary ends its epoch by itself, with every order on all replicas that may come after it. */
export interface Drain {
  readonly primary: Participant;
  /** The epoch that it leads in. */
  readonly epoch: number;
  /** Its sync set for the rest of its time: itself and every standby in sync, all of which must hold each order. */
  readonly rule: CommitRule;
  /** Of that sync set: higher than the last one. */
  readonly version: number;
}

/** Record a primary that already leads in `epoch`. */
export interface RecordPlan {
  readonly kind: "record";
  readonly primary: string;
  readonly epoch: number;
  readonly leaseVersion: string | undefined;
  readonly rule: CommitRule;
  readonly participants: readonly Participant[];
}

/** Give a leading primary other members or another k, without a new epoch and without a pause. */
export interface RuleChangePlan {
  readonly kind: "changeRule";
  readonly primary: Participant;
  readonly epoch: number;
  readonly leaseVersion: string;
  /** As the Lease says. */
  readonly from: CommitRule;
  readonly to: CommitRule;
  /** Of the new sync set: higher than the last one. */
  readonly version: number;
}

/** One small correction while a primary leads. Each may be repeated without harm. */
export type TendStep =
  | { readonly kind: "fence"; readonly replica: Participant; readonly epoch: number }
  | {
      readonly kind: "follow";
      readonly replica: Participant;
      readonly upstream: Participant;
      readonly epoch: number;
    }
  | { readonly kind: "label"; readonly pod: string; readonly uid: string; readonly role: "primary" | "standby" }
  | { readonly kind: "deletePod"; readonly pod: string; readonly uid: string; readonly why: string }
  | {
      readonly kind: "dropRequest";
      readonly annotation: string;
      readonly value: string;
      /** Undefined when the request was fulfilled. */
      readonly refusal: string | undefined;
    };

export type Plan =
  | { readonly kind: "rest" }
  | { readonly kind: "tend"; readonly steps: readonly TendStep[] }
  | RecordPlan
  | RuleChangePlan
  | ElectionPlan;

/** Why nobody can be made primary now, in words for the person who has to help. */
export interface Blockage {
  readonly reason: "NotEnoughPromises" | "NoCandidate" | "ReplicaNotBlank" | "ManualFailover" | "RecordStopsReplicas";
  readonly message: string;
}

/** Permission for a primary with k = 0 to go on acknowledging. Given whatever else is done: without it trading stops. */
export interface GrantStep {
  readonly replica: Participant;
  readonly epoch: number;
  readonly ttlMs: number;
}

export interface Decision {
  readonly verdict: PrimaryVerdict;
  readonly plan: Plan;
  readonly blocked: Blockage | undefined;
  readonly grant: GrantStep | undefined;
  /** Look again after so many milliseconds even if nothing is reported: silence makes no event. */
  readonly recheckMs: number;
}
