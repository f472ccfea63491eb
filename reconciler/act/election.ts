/**
 * An election from the lock to the route. Every step may be the last one this process makes:
 * whoever comes next finds a Lease without holder, and either a primary of exactly that epoch
 * to record, or reason to start over with the next one.
 */
import type { FenceAnswer } from "../../api/contract/v1.ts";
import type { FailoverPhases } from "../../api/tradingEngine/index.ts";
import {
  type Blockage,
  type Candidate,
  chooseCandidate,
  combinedRule,
  countPromises,
  type ElectionPlan,
  grantMs,
  needsGrant,
  type Participant,
} from "../decide/index.ts";
import { drainPrimary, prepareDrain } from "./drain.ts";
import { type ActWorld, LeaseTaken } from "./ports.ts";
import { collectPromises } from "./promises.ts";

export type ElectionStep = "drain" | "lock" | "fence" | "promote" | "route";

export type ElectionOutcome =
  | {
      readonly kind: "elected";
      readonly primary: string;
      readonly epoch: number;
      readonly phases: FailoverPhases;
      /** The old primary answered the fence while it still led. */
      readonly fencedAlive: boolean;
      /** Why the labels are not right yet; the next pass corrects them, and the election stands all the same. */
      readonly routeFailure?: string;
    }
  /** Another initiator was faster, or a higher epoch is promised: look again. */
  | { readonly kind: "superseded"; readonly message: string }
  /** The epoch began, but nobody could be made primary. */
  | { readonly kind: "blocked"; readonly blocked: Blockage }
  | { readonly kind: "failed"; readonly step: ElectionStep; readonly message: string };

/** Followers are told beside the promotion; so long at most the end of the election waits for their answers. */
const followersMs = 200;

/** Carries out an election. Never throws for what a peer or the API server does: the outcome says it. */
export async function runElection(plan: ElectionPlan, world: ActWorld): Promise<ElectionOutcome> {
  const { drain } = plan;
  if (drain !== undefined) {
    const prepared = await attempt("drain", () => prepareDrain(drain, world));
    if (prepared.kind === "ended") return prepared.outcome;
  }
  // Orders go on while a drain is prepared: the time of a planned move counts from here.
  const lap = stopwatch(world, drain === undefined ? plan.since : world.clock.now());
  const detectMs = lap();

  const locked = await attempt("lock", () =>
    world.writes.putLease({
      version: plan.leaseVersion,
      holder: "",
      epoch: plan.epoch,
      rule: combinedRule(plan.electorate.rule, plan.nextRule),
      established: !plan.electorate.first,
    }),
  );
  if (locked.kind === "ended") return locked.outcome;
  const lockMs = lap();

  // A planned move keeps the route until the new primary is there: the old one answers with a hint until then.
  const unrouted = drain === undefined ? unroute(plan.participants, world) : undefined;
  if (drain !== undefined) await drainPrimary(drain, world);
  const promises = await collectPromises(plan, world);
  if (promises.kind === "superseded") return promises;
  const { answers } = promises;
  const count = countPromises(plan.electorate, answers);
  const candidate = chooseCandidate(plan, answers);
  if (count.kind === "short") return { kind: "blocked", blocked: { reason: count.reason, message: count.message } };
  if (candidate === undefined)
    return { kind: "blocked", blocked: { reason: "NoCandidate", message: "no replica with history answered" } };
  const fenceMs = lap();

  const followed = followAll(plan, candidate.participant, answers, world);
  const promoted = await attempt("promote", () => promote(plan, candidate, world));
  if (promoted.kind === "ended") return promoted.outcome;
  const promoteMs = lap();

  const routed = await attempt("route", () => route(plan, candidate.participant, locked.value, unrouted, world));
  if (routed.kind === "ended") return routed.outcome;
  const routeMs = lap();
  await Promise.race([followed, world.clock.sleep(followersMs)]);

  const totalMs = detectMs + lockMs + fenceMs + promoteMs + routeMs;
  return {
    kind: "elected",
    primary: candidate.participant.name,
    epoch: plan.epoch,
    phases: { detectMs, lockMs, fenceMs, promoteMs, routeMs, totalMs },
    fencedAlive: answers.some(({ instance, wasPrimary }) => wasPrimary && instance !== candidate.participant.name),
    ...(routed.value === undefined ? {} : { routeFailure: routed.value }),
  };
}

/** Milliseconds since the last call, whole ones. */
function stopwatch({ clock }: ActWorld, start: number): () => number {
  let last = start;
  return () => {
    const now = clock.now();
    const elapsed = Math.max(0, Math.round(now - last));
    last = now;
    return elapsed;
  };
}

type Attempt<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "ended"; readonly outcome: ElectionOutcome };

async function attempt<T>(step: ElectionStep, work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { kind: "done", value: await work() };
  } catch (error) {
    const message = messageWithCause(error);
    if (error instanceof LeaseTaken) return { kind: "ended", outcome: { kind: "superseded", message } };
    return { kind: "ended", outcome: { kind: "failed", step, message } };
  }
}

async function promote(plan: ElectionPlan, { participant, position }: Candidate, { calls }: ActWorld): Promise<void> {
  await calls.promote(participant, plan.epoch, position, plan.nextRule);
  // The next pass gives it again; given here, nobody waits for that.
  if (needsGrant(plan.nextRule)) await calls.grant(participant, plan.epoch, grantMs).catch(() => undefined);
}

/** Takes the route away from whoever has it. Resolves to the first failure, which the caller has to see. */
async function unroute(participants: readonly Participant[], { writes }: ActWorld): Promise<Error | undefined> {
  const routed = participants.filter(({ role }) => role === "primary");
  const results = await Promise.allSettled(routed.map(({ pod }) => writes.labelRole(pod, "standby")));
  const failure = results.find((result) => result.status === "rejected");
  return failure === undefined ? undefined : new Error("the old route could not be removed", { cause: failure.reason });
}

/**
 * The holder and the labels are independent of each other; only the old label goes before the new one comes.
 * Throws when the holder can't be recorded; answers why the labels could not be set.
 */
async function route(
  plan: ElectionPlan,
  primary: Participant,
  version: string,
  unrouted: Promise<Error | undefined> | undefined,
  world: ActWorld,
): Promise<string | undefined> {
  const others = plan.participants.filter(({ name }) => name !== primary.name);
  const relabel = async (): Promise<void> => {
    const failure = await (unrouted ?? unroute(others, world));
    if (failure !== undefined) throw failure;
    await world.writes.labelRole(primary.pod, "primary");
  };
  const lease = world.writes.putLease({
    version,
    holder: primary.name,
    epoch: plan.epoch,
    rule: plan.nextRule,
    established: true,
  });
  // Both are waited for, so that no write is still under way when the caller goes on.
  const [recorded, labelled] = await Promise.allSettled([lease, relabel()]);
  if (recorded.status === "rejected") throw recorded.reason;
  return labelled.status === "rejected" ? messageWithCause(labelled.reason) : undefined;
}

const messageWithCause = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messageWithCause(error.cause)}`;
};

/** Tells those that answered whom to follow. A failure is made good by the next pass, once the primary leads. */
async function followAll(
  plan: ElectionPlan,
  primary: Participant,
  answers: readonly FenceAnswer[],
  { calls }: ActWorld,
): Promise<void> {
  const followers = plan.participants.filter(
    ({ name }) => name !== primary.name && answers.some(({ instance }) => instance === name),
  );
  await Promise.allSettled(followers.map((follower) => calls.follow(follower, plan.epoch, primary)));
}
