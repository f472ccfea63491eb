/** What the daemon and a worker process say to each other. Plain JSON over the IPC channel of fork(). */
import type { TradingEngineSpec } from "../../../api/tradingEngine/index.ts";
import type { VolumeShape } from "../volumePlan.ts";

/** Everything the inline program builds an engine of; its hash decides whether a run is needed. */
export interface EngineProgram {
  readonly namespace: string;
  readonly engine: string;
  readonly spec: TradingEngineSpec;
  /** The TradingEngine that owns the children. */
  readonly owner: { readonly name: string; readonly uid: string };
  /** See volumePlan.ts. */
  readonly volumes: Readonly<Record<number, VolumeShape>>;
  readonly volumeTemplate?: VolumeShape;
  /** Namespace whose pods may reach the control API. */
  readonly operatorNamespace: string;
}

/** Who leads, to be recorded in the stack's outputs. Not a reason for a run of its own. */
export interface Leadership {
  readonly primary: string;
  readonly epoch: number;
}

/** One `pulumi up` of one stack. */
export interface UpJob {
  readonly stack: string;
  /** An empty folder of this run alone: the stack's files and its backend are put here. */
  readonly directory: string;
  /** The stack's state as text; see checkpoint.ts. */
  readonly checkpoint: string;
  /** Read the live objects into the state first: needed when they are not as the state says. */
  readonly refresh: boolean;
  readonly program: EngineProgram;
  readonly controlToken: string;
  readonly leadership: Leadership;
}

/** One step that the engine took or was about to take. */
export interface PlanStep {
  /** Such as create, update, replace, delete. */
  readonly op: string;
  /** `Kind/name` in the stack. */
  readonly resource: string;
  /** Properties that force a replacement, where there are any. */
  readonly keys: readonly string[];
}

/** A child as a step left it. */
export interface AppliedChild {
  readonly kind: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Hash of which fields were then ours; see ownFields.ts. */
  readonly owned: string;
}

/** How an `up` ended. */
export interface UpOutcome {
  readonly result: "succeeded" | "failed" | "refused";
  /** The state after the run; absent when there is none to be read. */
  readonly checkpoint?: string;
  /** Resources by kind of step. */
  readonly changes: Readonly<Record<string, number>>;
  /** Steps other than `same`, in the order they were started. */
  readonly steps: readonly PlanStep[];
  /** Children that were created or updated. */
  readonly applied: readonly AppliedChild[];
  readonly outputs: Readonly<Record<string, unknown>>;
  /** For a failure: the engine's errors, for people. */
  readonly message?: string;
}

export interface WorkerRequest {
  readonly id: number;
  readonly job: UpJob;
}

export interface WorkerReply {
  readonly id: number;
  readonly outcome: UpOutcome;
}
