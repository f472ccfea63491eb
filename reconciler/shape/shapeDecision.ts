/** Whether an engine needs an `up`, and why: a pure function of what is wanted, what was left and what is there. */
import { differingChildren, type ShapeRecord } from "./shapeRecord.ts";
import type { ShapeReason } from "./shapeResult.ts";

export interface ShapeSnapshot {
  readonly reason: ShapeReason;
  readonly paused: boolean;
  readonly driftPolicy: "Correct" | "Report";
  /** Hash of what is wanted now. */
  readonly wanted: string;
  /** `undefined` before the first successful run, and when the record was lost. */
  readonly record: Pick<ShapeRecord, "wanted" | "children"> | undefined;
  /** Whether the stack has a state. */
  readonly hasState: boolean;
  /** Hash of our fields in each child that is there. */
  readonly observed: Readonly<Record<string, string>>;
  /** The last run failed, so the state may be behind the cluster. */
  readonly lastRunFailed: boolean;
  /** Epoch of the engine now, and the one that the stack's outputs tell of. */
  readonly epoch: number;
  readonly recordedEpoch: number;
}

export type ShapeDecision =
  | { readonly kind: "nothing"; readonly why: "Paused" | "Unchanged" }
  /** Drift that the policy leaves alone. */
  | { readonly kind: "report"; readonly drifted: readonly string[] }
  | {
      readonly kind: "run";
      readonly reason: ShapeReason;
      /** The state must be read from the cluster first. */
      readonly refresh: boolean;
      readonly drifted: readonly string[];
    };

export const decideShape = (snapshot: ShapeSnapshot): ShapeDecision => {
  const { record, reason, lastRunFailed } = snapshot;
  if (snapshot.paused) return { kind: "nothing", why: "Paused" };
  if (record === undefined) {
    return { kind: "run", reason: firstReason(reason), refresh: snapshot.hasState, drifted: [] };
  }
  const drifted = differingChildren(record, snapshot.observed);
  // Compared and not announced: a daemon that dies between a change of primary and its `up` leaves it to the next one.
  // After a first election there is nothing to repair, and nobody led before.
  const failedOver = snapshot.epoch > Math.max(snapshot.recordedEpoch, 1);
  // An update of a child that is gone fails, and one of a child that was edited may leave the edit: read first.
  const refresh = drifted.length > 0 || lastRunFailed;
  if (snapshot.wanted !== record.wanted) {
    return { kind: "run", reason: failedOver ? "Failover" : "SpecChanged", refresh, drifted };
  }
  // A failover is recorded in the stack's outputs even when it broke nothing.
  if (failedOver) return { kind: "run", reason: "Failover", refresh, drifted };
  if (reason === "Requested" || lastRunFailed) return { kind: "run", reason, refresh, drifted };
  if (drifted.length === 0) return { kind: "nothing", why: "Unchanged" };
  return snapshot.driftPolicy === "Report"
    ? { kind: "report", drifted }
    : { kind: "run", reason: "Drift", refresh: true, drifted };
};

/** Without a record nothing can have drifted or changed: whatever woke us, it is a first run. */
const firstReason = (reason: ShapeReason): ShapeReason =>
  reason === "Failover" || reason === "Requested" || reason === "Resync" ? reason : "Created";
