/**
 * The role lane's whole judgement: what an engine's world looks like -> what to do next.
 * Pure: the same snapshot at the same instant always gives the same decision.
 */
import { annotations } from "../../api/names.ts";
import type { EngineSnapshot } from "../observe/snapshot.ts";
import { combinedRule, ruleInForce, wantedRule } from "./commitRule.ts";
import { electorateOf, prospectsOf } from "./electorate.ts";
import { grantFor } from "./grant.ts";
import { participantsOf } from "./participants.ts";
import type { Blockage, Decision, Drain, ElectionCause, ElectionPlan, Plan, RecordPlan, TendStep } from "./plan.ts";
import { findPlannedMove, type PlannedMove, settleRequests } from "./plannedMove.ts";
import { findPoison } from "./poison.ts";
import { answeringReplicas, highestKnownEpoch, isEstablished } from "./replicaFacts.ts";
import { deleteBroken, deleteNextStandby, deleteOnlyReplica } from "./rollout.ts";
import { planRuleChange } from "./ruleChange.ts";
import { alignLabels, alignReplicas } from "./tend.ts";
import { judgePrimary, type PrimaryVerdict } from "./verdict.ts";

/** A stalled primary is replaced once in so long: a slow disk everywhere must not chase the primary around. */
const stallCoolDownMs = 60_000;

/** While something is uncertain: often enough not to add to a failover, seldom enough to cost nothing. */
const uncertainRecheckMs = 50;

/** Decides for one engine. `now` is the same monotonic clock that the snapshot's instants are from. */
export function decide(snapshot: EngineSnapshot, now: number): Decision {
  const verdict = judgePrimary(snapshot, now);
  const { plan, blocked } = isHandsOff(snapshot) ? resting : choose(snapshot, verdict, now);
  const grant = grantFor(snapshot, verdict, now);
  return { verdict, plan, blocked, grant, recheckMs: recheckAfter(snapshot, verdict) };
}

type Choice = Pick<Decision, "plan" | "blocked">;

const resting: Choice = { plan: { kind: "rest" }, blocked: undefined };

/** Nobody leads an engine that is being taken down or was put to sleep; and paused means that a person works on it. */
const isHandsOff = ({ deleting, spec }: EngineSnapshot): boolean => deleting || spec.paused || spec.hibernate;

function choose(snapshot: EngineSnapshot, verdict: PrimaryVerdict, now: number): Choice {
  switch (verdict.kind) {
    case "none":
      return electOrExplain(snapshot, now, {
        cause: isEstablished(snapshot) ? "Resumed" : "Bootstrap",
        from: undefined,
        since: now,
      });
    case "dead":
      return replaceDead(snapshot, verdict, now);
    case "unrecorded":
      return act(recordOf(snapshot, verdict, now));
    case "stalled":
      return replaceStalled(snapshot, verdict, now);
    case "suspect":
    case "cutOff":
      return act(tendingPlan(deleteBroken(snapshot, now)));
    case "leading":
    case "leaving":
      return tendOrMove(snapshot, verdict, now);
  }
}

const act = (plan: Plan): Choice => ({ plan, blocked: undefined });

const tendingPlan = (steps: readonly TendStep[]): Plan =>
  steps.length === 0 ? { kind: "rest" } : { kind: "tend", steps };

interface Call {
  readonly cause: ElectionCause;
  readonly from: string | undefined;
  readonly since: number;
  readonly prefer?: string;
  readonly avoid?: readonly string[];
  readonly drain?: Drain;
}

function electOrExplain(snapshot: EngineSnapshot, now: number, call: Call): Choice {
  const blocked = findPoison(snapshot) ?? prospectsOf(snapshot, now);
  if (blocked === undefined) return act(electionOf(snapshot, now, call));
  // Until there was a first primary nothing is lost by waiting: that is a beginning, not a blockage.
  const isBeginning = !isEstablished(snapshot);
  return { plan: tendingPlan(deleteBroken(snapshot, now)), blocked: isBeginning ? undefined : blocked };
}

function replaceDead(snapshot: EngineSnapshot, verdict: PrimaryVerdict & { kind: "dead" }, now: number): Choice {
  const { name, cause, since } = verdict;
  const requested = snapshot.annotations[annotations.switchoverTo];
  const isDecided = snapshot.replicas.some((replica) => replica.name === requested);
  if (snapshot.spec.failoverStrategy.mode === "Manual" && !isDecided) {
    const blocked: Blockage = {
      reason: "ManualFailover",
      message: `${name} is dead (${cause}) and failoverStrategy.mode is Manual. Name the next primary: kubectl annotate te ${snapshot.key.name} ${annotations.switchoverTo}=POD`,
    };
    return { plan: tendingPlan([...deleteBroken(snapshot, now), ...settleRequests(snapshot, name)]), blocked };
  }
  return electOrExplain(snapshot, now, { cause, from: name, since, ...(requested && { prefer: requested }) });
}

function replaceStalled(snapshot: EngineSnapshot, verdict: PrimaryVerdict & { kind: "stalled" }, now: number): Choice {
  const { name, since } = verdict;
  const lastAt = snapshot.lastStallFailoverAt;
  const isCoolingDown = lastAt !== undefined && now - lastAt < stallCoolDownMs;
  const isManual = snapshot.spec.failoverStrategy.mode === "Manual";
  // The stalled replica cannot make a promise durable either, so the others must be enough without it.
  if (isCoolingDown || isManual || prospectsOf(snapshot, now, name) !== undefined) return resting;
  return act(electionOf(snapshot, now, { cause: "WriteStalled", from: name, since, avoid: [name] }));
}

function tendOrMove(
  snapshot: EngineSnapshot,
  verdict: PrimaryVerdict & { readonly kind: "leading" | "leaving" },
  now: number,
): Choice {
  const { name } = verdict;
  const epoch = verdict.status.epoch.current;
  const corrections = [...alignReplicas(snapshot, name, epoch, now), ...alignLabels(snapshot, name)];
  const move = findPlannedMove(snapshot, verdict, epoch, now);
  if (move !== undefined) {
    const drain = drainOf(snapshot, verdict, move, now);
    const call: Call = { cause: move.cause, from: name, since: now, prefer: move.to, avoid: [name] };
    return act(electionOf(snapshot, now, drain === undefined ? call : { ...call, drain }));
  }
  const ruleChange = corrections.length === 0 ? planRuleChange(snapshot, verdict, now) : undefined;
  if (ruleChange !== undefined) return act(ruleChange);
  const replacements = [
    ...deleteBroken(snapshot, now),
    ...deleteOnlyReplica(snapshot),
    ...(verdict.kind === "leading" ? deleteNextStandby(snapshot, name, epoch, now) : []),
  ];
  return act(tendingPlan([...corrections, ...settleRequests(snapshot, name), ...uniqueByPod(replacements)]));
}

/** Every standby in sync is made to hold each order, so that the preferred one surely does when the primary ends. */
function drainOf(
  snapshot: EngineSnapshot,
  { name, status }: PrimaryVerdict & { readonly kind: "leading" | "leaving" },
  { inSync }: PlannedMove,
  now: number,
): Drain | undefined {
  const primary = participantsOf(snapshot, now).find((participant) => participant.name === name);
  if (primary === undefined || status.sync === null) return undefined;
  const rule = { members: [name, ...inSync].sort(), k: inSync.length };
  return { primary, epoch: status.epoch.current, rule, version: status.sync.version + 1 };
}

/** Two rules may name the same pod. */
const uniqueByPod = (steps: readonly TendStep[]): readonly TendStep[] => [
  ...new Map(steps.map((step) => [step.kind === "deletePod" ? step.uid : step, step])).values(),
];

function electionOf(snapshot: EngineSnapshot, now: number, call: Call): ElectionPlan {
  return {
    kind: "elect",
    cause: call.cause,
    from: call.from,
    since: call.since,
    epoch: highestKnownEpoch(snapshot) + 1,
    leaseVersion: snapshot.lease?.resourceVersion,
    electorate: electorateOf(snapshot),
    // Members are only exchanged while a primary leads: an empty new one would be counted on for promises.
    nextRule: ruleInForce(snapshot),
    participants: participantsOf(snapshot, now),
    prefer: call.prefer,
    // A replica that halted refuses to lead; what only it holds keeps the others waiting all the same.
    avoid: [...(call.avoid ?? []), ...haltedReplicas(snapshot, now)],
    drain: call.drain,
  };
}

const haltedReplicas = (snapshot: EngineSnapshot, now: number): readonly string[] =>
  answeringReplicas(snapshot, now).flatMap(({ replica, status }) => (status.role === "halted" ? [replica.name] : []));

function recordOf(snapshot: EngineSnapshot, verdict: PrimaryVerdict & { kind: "unrecorded" }, now: number): RecordPlan {
  return {
    kind: "record",
    primary: verdict.name,
    epoch: verdict.epoch,
    leaseVersion: snapshot.lease?.resourceVersion,
    // Which rule the dead initiator promoted with is not known: the combination is safe for either.
    rule: combinedRule(ruleInForce(snapshot), wantedRule(snapshot)),
    participants: participantsOf(snapshot, now),
  };
}

function recheckAfter({ spec }: EngineSnapshot, verdict: PrimaryVerdict): number {
  const calmMs = Math.max(uncertainRecheckMs, spec.failoverStrategy.detectionMilliseconds / 4);
  switch (verdict.kind) {
    case "suspect":
      return uncertainRecheckMs;
    case "none":
    case "unrecorded":
    case "leading":
    case "leaving":
    case "stalled":
    case "cutOff":
    case "dead":
      return calmMs;
  }
}
