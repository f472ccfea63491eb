import { comparePositions, type FenceAnswer, type Position } from "../../api/contract/v1.ts";
import { countPromises } from "./electorate.ts";
import type { ElectionPlan, Participant } from "./plan.ts";

export interface Candidate {
  readonly participant: Participant;
  /** The highest position among those that were asked: the candidate holds it. */
  readonly position: Position;
}

/**
 * Picks the next primary among replicas that promised: the furthest position first, because it holds every
 * acknowledged order; then what a person or a rollout prefers; then the healthiest.
 *
 * A replica to avoid (stalled, or on its way out) is set aside as long as the others are enough without it: what only
 * it holds beyond them was never acknowledged.
 * @returns undefined when no replica with history is among the answers.
 */
export function chooseCandidate(plan: ElectionPlan, answers: readonly FenceAnswer[]): Candidate | undefined {
  const others = answers.filter(({ instance }) => !plan.avoid.includes(instance));
  const isEnoughWithout = countPromises(plan.electorate, others).kind === "enough";
  const ranked = (isEnoughWithout ? others : answers)
    .filter(({ blank }) => plan.electorate.first || !blank)
    .flatMap((answer) => {
      const participant = plan.participants.find(({ name }) => name === answer.instance);
      return participant === undefined ? [] : [{ participant, position: answer.durable }];
    })
    .sort(
      (a, b) =>
        comparePositions(b.position, a.position) ||
        Number(b.participant.name === plan.prefer) - Number(a.participant.name === plan.prefer) ||
        fitness(b.participant) - fitness(a.participant) ||
        a.participant.ordinal - b.participant.ordinal,
    );
  return ranked[0];
}

const fitness = ({ ready, nodeSchedulable, outdated }: Participant): number =>
  (ready ? 4 : 0) + (nodeSchedulable ? 2 : 0) + (outdated ? 0 : 1);
