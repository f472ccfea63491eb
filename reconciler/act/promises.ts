import type { FenceAnswer } from "../../api/contract/v1.ts";
import { EngineRefusal } from "../contract/index.ts";
import { countPromises, type ElectionPlan } from "../decide/index.ts";
import type { ActWorld } from "./ports.ts";

/** Once the promises suffice, those that seemed to be there get so long to add a further position. */
const stragglersMs = 50;

/** The first refusal because a replica promised a higher epoch, if any: this election is lost then. */
export type CollectedPromises =
  | { readonly kind: "collected"; readonly answers: readonly FenceAnswer[] }
  | { readonly kind: "superseded"; readonly message: string };

/**
 * Fences every participant in parallel. Returns as soon as all that answered before have answered again, or the
 * promises suffice and the rest is late: a frozen replica must not hold up the election that it caused.
 */
export async function collectPromises(plan: ElectionPlan, { calls, clock }: ActWorld): Promise<CollectedPromises> {
  const answers: FenceAnswer[] = [];
  let superseded: string | undefined;
  let waitedFor = plan.participants.filter((participant) => participant.answers).length;
  const { promise: isOver, resolve: finish } = Promise.withResolvers<undefined>();
  const isEnough = (): boolean => countPromises(plan.electorate, answers).kind === "enough";
  let isGraceRunning = false;

  const review = (): void => {
    if (superseded !== undefined || (waitedFor <= 0 && isEnough())) finish(undefined);
    else if (isEnough() && !isGraceRunning) {
      isGraceRunning = true;
      void clock.sleep(stragglersMs).then(() => finish(undefined));
    }
  };

  const asked = plan.participants.map(async (participant) => {
    try {
      answers.push(await calls.fence(participant, plan.epoch));
    } catch (error) {
      // An unanswered fence is no promise, whether or not it took effect.
      if (error instanceof EngineRefusal && error.problem.code === "STALE_EPOCH") superseded = error.message;
    }
    if (participant.answers) waitedFor -= 1;
    review();
  });
  await Promise.race([isOver, Promise.allSettled(asked)]);
  return superseded === undefined
    ? { kind: "collected", answers: [...answers] }
    : { kind: "superseded", message: superseded };
}
