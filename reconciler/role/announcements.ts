/** What people are told, as data: one function for each kind of news. */
import type { FailoverPhases } from "../../api/tradingEngine/index.ts";
import type { ElectionOutcome, TendResult } from "../act/index.ts";
import type { Blockage, ElectionPlan, PrimaryVerdict } from "../decide/index.ts";
import { describeCause, kindOf } from "./causes.ts";

/** An Event about a TradingEngine. */
export interface Announcement {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

type Elected = ElectionOutcome & { readonly kind: "elected" };

export function announceStart({ cause, from, epoch }: ElectionPlan): readonly Announcement[] {
  if (kindOf(cause) !== "failover") return [];
  const who = from === undefined ? "There is no primary" : `${from} is replaced as primary`;
  const note = `${who}, because ${describeCause(cause)}. Epoch ${epoch} begins.`;
  return [{ type: "Warning", reason: "FailoverStarted", action: "Elect", note }];
}

export function announceElected({ cause, from }: ElectionPlan, outcome: Elected): readonly Announcement[] {
  const { primary, epoch, phases } = outcome;
  const after = `${phases.totalMs} ms (${describePhases(phases)})`;
  switch (kindOf(cause)) {
    case "first":
      return [
        {
          type: "Normal",
          reason: "PrimaryElected",
          action: "Elect",
          note: `${primary} is the first primary, in epoch ${epoch}.`,
        },
      ];
    case "failover": {
      const note =
        from === undefined || from === primary
          ? `${primary} is primary again, in epoch ${epoch}, after ${after}.`
          : `${primary} took over from ${from} (${cause}), in epoch ${epoch}, after ${after}.`;
      const completed: Announcement = { type: "Normal", reason: "FailoverCompleted", action: "Elect", note };
      return outcome.fencedAlive && from !== undefined ? [completed, announceFenced(from, epoch)] : [completed];
    }
    case "switchover": {
      const note = `${primary} leads in epoch ${epoch}, because ${describeCause(cause)}; it took ${after}.`;
      return [{ type: "Normal", reason: "SwitchoverCompleted", action: "Switchover", note }];
    }
  }
}

const describePhases = ({ detectMs, lockMs, fenceMs, promoteMs, routeMs }: FailoverPhases): string =>
  `detect ${detectMs}, lock ${lockMs}, fence ${fenceMs}, promote ${promoteMs}, route ${routeMs}`;

export function announceFailure(plan: ElectionPlan, outcome: ElectionOutcome): readonly Announcement[] {
  if (outcome.kind !== "failed") return [];
  const note = `The election of epoch ${plan.epoch} ended in step ${outcome.step} and is tried again: ${outcome.message}`;
  return [{ type: "Warning", reason: "ElectionFailed", action: "Elect", note }];
}

export const announceBlocked = ({ reason, message }: Blockage): Announcement => ({
  type: "Warning",
  reason: "PromotionBlocked",
  action: "Elect",
  note: `${reason}: ${message}`,
});

export function announceSuspicion(verdict: PrimaryVerdict): Announcement | undefined {
  const warn = (reason: string, note: string): Announcement => ({ type: "Warning", reason, action: "Observe", note });
  switch (verdict.kind) {
    case "suspect":
      return warn("PrimarySuspected", `${verdict.name} does not answer; its standbys are asked.`);
    case "cutOff":
      return warn(
        "ControlPathDegraded",
        `The reconciler cannot hear ${verdict.name}, but ${verdict.heardBy.join(" and ")} can: no failover.`,
      );
    case "stalled":
      return warn("PrimarySuspected", `The write path of ${verdict.name} makes no progress.`);
    case "none":
    case "unrecorded":
    case "leading":
    case "leaving":
    case "dead":
      return undefined;
  }
}

const announceFenced = (replica: string, epoch: number): Announcement => ({
  type: "Warning",
  reason: "StalePrimaryFenced",
  action: "Fence",
  note: `${replica} still led an older epoch and was stopped by the promise for epoch ${epoch}.`,
});

export function announceTended({ step, error, wasPrimary }: TendResult): readonly Announcement[] {
  if (error !== undefined) return [];
  switch (step.kind) {
    case "fence":
      return wasPrimary ? [announceFenced(step.replica.name, step.epoch)] : [];
    case "deletePod":
      return [
        {
          type: "Normal",
          reason: "PodReplaced",
          action: "Delete",
          note: `${step.pod} is replaced, because ${step.why}.`,
        },
      ];
    case "dropRequest":
      return step.refusal === undefined
        ? []
        : [{ type: "Warning", reason: "SwitchoverRefused", action: "Switchover", note: `${step.refusal}.` }];
    case "follow":
    case "label":
      return [];
  }
}

export const announceRebuilt = (replica: string, seconds: number): Announcement => ({
  type: "Normal",
  reason: "ReplicaRebuilt",
  action: "Repair",
  note: `${replica} is in sync again after ${seconds.toFixed(1)} s.`,
});
