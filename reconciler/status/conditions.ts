/** Every condition of a TradingEngine, each decided in one function from the same facts. */
import type { Condition, ReplicaStatus } from "../../api/tradingEngine/index.ts";
import { type Decision, promisesNeeded, ruleInForce } from "../decide/index.ts";
import type { EngineSnapshot } from "../observe/snapshot.ts";
import { type Judgement, judge } from "./judgement.ts";
import { judgeProgress } from "./progress.ts";
import type { ReplicaProblem } from "./replicaProblem.ts";

/** What the conditions are decided from. */
export interface Facts {
  readonly snapshot: EngineSnapshot;
  readonly decision: Decision;
  readonly replicas: readonly ReplicaStatus[];
  readonly problems: readonly ReplicaProblem[];
}

/** All conditions, in the order in which a person reads them. */
export function judgeAll(facts: Facts): readonly Judgement[] {
  const primary = judgePrimaryAvailable(facts);
  const redundant = judgeRedundant(facts);
  const progress = judgeProgress(facts);
  return [
    judgeReady(facts, primary, redundant),
    primary,
    redundant,
    judgeShape(facts),
    progress,
    judgePaused(facts),
    judgeControlPath(facts),
    judgePromotion(facts),
    judgePoison(facts),
    judgeDisk(facts),
  ];
}

/**
 * Orders are accepted and a loss can be survived. Somebody who asks for a single replica gave up the second half, and
 * would otherwise wait for ever; the condition Redundant tells.
 */
function judgeReady({ snapshot, problems }: Facts, primary: Judgement, redundant: Judgement): Judgement {
  const isSingle = snapshot.spec.replicas === 1;
  const failing =
    primary.status !== "True" ? primary : redundant.status !== "True" && !isSingle ? redundant : undefined;
  if (failing === undefined)
    return judge("Ready", "True", "Trading", "Orders are accepted and the loss of a replica can be survived.");
  const [problem] = problems;
  if (problem === undefined) return judge("Ready", failing.status, failing.reason, failing.message);
  return judge("Ready", failing.status, problem.reason, `${problem.replica}: ${problem.message}.`);
}

function judgePrimaryAvailable({ snapshot, decision }: Facts): Judgement {
  const { verdict, blocked } = decision;
  const no = (reason: Judgement["reason"], message: string) => judge("PrimaryAvailable", "False", reason, message);
  if (snapshot.spec.hibernate) return no("Hibernated", "The engine is hibernated: no replica runs.");
  switch (verdict.kind) {
    case "leading":
    case "leaving": {
      if (verdict.status.ready)
        return judge(
          "PrimaryAvailable",
          "True",
          "Trading",
          `${verdict.name} accepts orders in epoch ${verdict.status.epoch.current}.`,
        );
      const reason = verdict.status.readyReason;
      return no("CannotCommit", `${verdict.name} leads but accepts no orders: ${reason}.`);
    }
    case "stalled":
      return no("PrimaryStalled", `The write path of ${verdict.name} makes no progress.`);
    case "suspect":
      return judge("PrimaryAvailable", "Unknown", "PrimaryUnreachable", `${verdict.name} does not answer.`);
    case "cutOff":
      return judge(
        "PrimaryAvailable",
        "Unknown",
        "PrimaryUnreachable",
        `${verdict.name} does not answer the reconciler, but ${verdict.heardBy.join(" and ")} can hear it.`,
      );
    case "dead":
      return no(blocked === undefined ? "Electing" : "NoPrimary", `${verdict.name} is dead (${verdict.cause}).`);
    case "none":
      return verdict.epoch === 0 && (snapshot.published?.epoch ?? 0) === 0
        ? no("Bootstrapping", "The first primary is elected once every replica answers.")
        : no(blocked === undefined ? "Electing" : "NoPrimary", "No replica is primary.");
    case "unrecorded":
      return no("Electing", `${verdict.name} leads; its election is being completed.`);
  }
}

/** After the loss of the primary the remaining standbys must suffice for an election; that needs n - k of them. */
function judgeRedundant({ snapshot, decision, replicas }: Facts): Judgement {
  if (snapshot.spec.replicas === 1)
    return judge(
      "Redundant",
      "False",
      "SingleReplica",
      "With one replica there is no standby: raise spec.replicas to 3.",
    );
  const rule = ruleInForce(snapshot);
  const needed = Math.max(1, promisesNeeded(rule));
  const inSync = replicas.filter(
    ({ name, role, inSync: is }) => is && role === "Standby" && rule.members.includes(name),
  );
  const isLed = decision.verdict.kind === "leading" || decision.verdict.kind === "leaving";
  if (isLed && inSync.length >= needed)
    return judge("Redundant", "True", "StandbysInSync", `${needed} standbys in sync are enough, and they are.`);
  const missing = replicas.filter(({ role, inSync: is }) => role !== "Primary" && !is).map(({ name }) => name);
  const who = missing.length === 0 ? "" : ` Not in sync: ${missing.join(", ")}.`;
  return judge("Redundant", "False", "StandbysMissing", `Fewer than ${needed} standbys are in sync.${who}`);
}

function judgeShape({ snapshot }: Facts): Judgement {
  const { shape, published } = snapshot;
  if (shape === undefined) {
    // After a restart of the reconciler nothing is known until the next run: what was published last still holds.
    const before = published?.conditions?.find(({ type }) => type === "ShapeSynced");
    return before === undefined
      ? judge("ShapeSynced", "Unknown", "UpRunning", "The engine's objects are being created.")
      : judge("ShapeSynced", before.status, before.reason as Judgement["reason"], before.message);
  }
  const why = shape.message ?? "no reason was given";
  switch (shape.result) {
    case "succeeded":
      if (shape.generation !== snapshot.generation)
        return judge("ShapeSynced", "Unknown", "UpRunning", "The new spec is being applied to the engine's objects.");
      return judge("ShapeSynced", "True", "UpSucceeded", "The engine's objects are as the spec wants them.");
    case "failed":
      return judge("ShapeSynced", "False", "UpFailed", `The last update failed and is tried again: ${why}`);
    case "timedOut":
      return judge("ShapeSynced", "False", "UpTimedOut", `The last update took too long and is tried again: ${why}`);
    case "refused":
      return judge("ShapeSynced", "False", "UpRefused", `The last update was not run: ${why}`);
  }
}

function judgePaused({ snapshot }: Facts): Judgement {
  return snapshot.spec.paused
    ? judge("Paused", "True", "SpecPaused", "spec.paused is true: nothing is changed, repaired or failed over.")
    : judge("Paused", "False", "Active", "");
}

function judgeControlPath({ decision: { verdict } }: Facts): Judgement {
  if (verdict.kind !== "cutOff") return judge("ControlPathDegraded", "False", "AllReachable", "");
  return judge(
    "ControlPathDegraded",
    "True",
    "ReplicaUnreachable",
    `The reconciler cannot hear ${verdict.name}, but ${verdict.heardBy.join(" and ")} can: no failover. Look at the network between the two.`,
  );
}

function judgePromotion({ decision: { blocked } }: Facts): Judgement {
  return blocked === undefined
    ? judge("PromotionBlocked", "False", "AsExpected", "")
    : judge("PromotionBlocked", "True", blocked.reason, blocked.message);
}

function judgePoison({ decision: { blocked } }: Facts): Judgement {
  return blocked?.reason === "RecordStopsReplicas"
    ? judge("PoisonOrder", "True", blocked.reason, blocked.message)
    : judge("PoisonOrder", "False", "AsExpected", "");
}

function judgeDisk({ problems }: Facts): Judgement {
  const full = problems.filter(({ reason }) => reason === "DiskFull").map(({ replica }) => replica);
  return full.length === 0
    ? judge("DiskPressure", "False", "AsExpected", "")
    : judge("DiskPressure", "True", "DiskFull", `No space is left on the volume of ${full.join(", ")}.`);
}

/** Adds the times: a condition's time moves only when its status does. */
export function dateConditions(
  judgements: readonly Judgement[],
  before: readonly Condition[] | undefined,
  generation: number,
  wall: string,
): Condition[] {
  return judgements.map((judgement) => {
    const previous = before?.find(({ type }) => type === judgement.type);
    const isSame = previous?.status === judgement.status;
    return {
      ...judgement,
      lastTransitionTime: isSame ? previous.lastTransitionTime : wall,
      observedGeneration: generation,
    };
  });
}
