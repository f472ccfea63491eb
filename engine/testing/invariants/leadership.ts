import type { Answer, History } from "./history.ts";
import { type Violation, violation } from "./violation.ts";

/** I3: who answered in which epoch, and when. */
export function* checkLeadership({ answers, promises }: History): Generator<Violation> {
  const leaders = new Map<number, string>();
  for (const { term, instance } of answers) {
    const leader = leaders.get(term) ?? instance;
    leaders.set(term, leader);
    if (leader !== instance) yield violation("I3", `${leader} and ${instance} both answer in epoch ${term}`);
  }
  const leading = answers.filter(({ kind }) => kind !== "recalled");
  for (const answer of leading) {
    const fence = promises.find(
      ({ kind, instance, epoch, at }) =>
        kind === "given" && instance === answer.instance && epoch > answer.term && at < answer.answeredAt,
    );
    if (fence === undefined) continue;
    yield violation(
      "I3",
      `${answer.instance} answers ${answer.clientId} in epoch ${answer.term} after it promised ${fence.epoch}`,
    );
  }
  yield* checkStaleAnswers(leading);
}

/**
 * Whoever asks after a newer epoch has acknowledged gets no new answer from an older one. A repetition is another matter: what was
 * committed stays so, and a primary that is cut off may learn late that it was.
 */
function* checkStaleAnswers(answers: readonly Answer[]): Generator<Violation> {
  const began = new Map<number, number>();
  for (const { term, answeredAt, kind, duplicate } of answers) {
    if (kind !== "absent" && !duplicate && !began.has(term)) began.set(term, answeredAt);
  }
  for (const answer of answers.filter(({ duplicate }) => !duplicate)) {
    for (const [epoch, since] of began) {
      if (epoch <= answer.term || since >= answer.sentAt) continue;
      yield violation(
        "I3",
        `${answer.instance} answers ${answer.clientId} in epoch ${answer.term} although ${epoch} had begun before it was sent`,
      );
      break;
    }
  }
}

/** I12: what a replica promises, and what it finds on its disk. */
export function* checkPromises({ promises }: History): Generator<Violation> {
  const highest = new Map<string, number>();
  for (const { instance, epoch, kind } of promises) {
    const before = highest.get(instance) ?? 0;
    if (epoch < before) yield violation("I12", `${instance} had promised ${before}, and ${epoch} was ${kind} later`);
    highest.set(instance, Math.max(before, epoch));
  }
}

/** I13: clusters that met. */
export function* checkClusters({ mixedClusters }: History): Generator<Violation> {
  for (const { from, to } of mixedClusters) yield violation("I13", `a replica of ${from} was let in by ${to}`);
}
