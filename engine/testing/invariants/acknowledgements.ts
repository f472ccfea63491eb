import type { Answer, History, JournaledRecord } from "./history.ts";
import { at, type Violation, violation } from "./violation.ts";

type Acknowledged = Answer & { readonly position: NonNullable<Answer["position"]> };

const isAcknowledged = (answer: Answer): answer is Acknowledged => answer.position !== null;

/** I1: looks up every acknowledgement in every surviving journal. */
export function* checkSurvival({ journals, answers }: History): Generator<Violation> {
  const acknowledged = answers.filter(isAcknowledged);
  for (const [instance, journal] of journals) {
    for (const { kind, clientId, position } of acknowledged) {
      const record = journal[position.seq - 1];
      const wanted = kind === "cancelled" ? "cancel" : "order";
      if (record?.epoch === position.epoch && record.clientId === clientId && record.kind === wanted) continue;
      if (kind === "cancelled" && record?.kind === "epochStart" && record.epoch === position.epoch) continue;
      const found =
        record === undefined ? "nothing" : `${record.kind} ${record.clientId ?? ""} of epoch ${record.epoch}`;
      yield violation(
        "I1",
        `${kind} ${clientId} was acknowledged at ${at(position)}, where ${instance} holds ${found}`,
      );
    }
  }
  yield* checkDenials(answers);
}

function* checkDenials(answers: readonly Answer[]): Generator<Violation> {
  const placed = new Map<string, Answer>();
  for (const answer of answers) {
    if (answer.kind === "placed" && !placed.has(answer.clientId)) placed.set(answer.clientId, answer);
    const earlier = placed.get(answer.clientId);
    if (answer.kind !== "absent" || earlier === undefined || answer.sentAt <= earlier.answeredAt) continue;
    yield violation("I1", `${answer.instance} denied ${answer.clientId}, which ${earlier.instance} had acknowledged`);
  }
}

/** I2: positions, in the journals and as clients were told them. */
export function* checkSequence({ journals, answers }: History): Generator<Violation> {
  for (const [instance, journal] of journals) {
    for (const [index, record] of journal.entries()) {
      if (record.seq !== index + 1) yield violation("I2", `${instance} holds ${at(record)} as record ${index + 1}`);
      const previous = journal[index - 1];
      if (previous !== undefined && record.epoch < previous.epoch) {
        yield violation("I2", `${instance} holds ${at(record)} behind ${at(previous)}`);
      }
    }
  }
  const holders = new Map<number, Acknowledged>();
  for (const answer of answers.filter(isAcknowledged)) {
    const holder = holders.get(answer.position.seq);
    if (holder === undefined) holders.set(answer.position.seq, answer);
    else if (holder.clientId !== answer.clientId || holder.position.epoch !== answer.position.epoch) {
      yield violation(
        "I2",
        `${at(holder.position)} was acknowledged to ${holder.clientId}, ${at(answer.position)} to ${answer.clientId}`,
      );
    }
  }
  yield* checkRealTime(answers.filter(isAcknowledged).filter(({ duplicate }) => !duplicate));
}

/** A request that was sent after another was acknowledged has the later position. */
function* checkRealTime(answers: readonly Acknowledged[]): Generator<Violation> {
  const bySent = answers.toSorted((a, b) => a.sentAt - b.sentAt);
  const byAnswered = answers.toSorted((a, b) => a.answeredAt - b.answeredAt);
  let latest: Acknowledged | null = null;
  let next = 0;
  for (const answer of bySent) {
    for (let earlier = byAnswered[next]; earlier !== undefined && earlier.answeredAt < answer.sentAt; ) {
      if (latest === null || earlier.position.seq > latest.position.seq) latest = earlier;
      next += 1;
      earlier = byAnswered[next];
    }
    if (latest === null || latest.position.seq < answer.position.seq) continue;
    if (latest.clientId === answer.clientId) continue;
    yield violation(
      "I2",
      `${answer.clientId} was sent after ${at(latest.position)} was acknowledged, and got ${at(answer.position)}`,
    );
  }
}

/** I9: a client id in a journal, and as it was answered. */
export function* checkClientIds({ journals, answers }: History): Generator<Violation> {
  const told = new Map<string, Acknowledged>();
  for (const answer of answers.filter(isAcknowledged)) {
    if (answer.kind === "cancelled") continue;
    const earlier = told.get(answer.clientId);
    if (earlier === undefined) told.set(answer.clientId, answer);
    else if (at(earlier.position) !== at(answer.position)) {
      yield violation("I9", `${answer.clientId} was placed at ${at(earlier.position)} and at ${at(answer.position)}`);
    }
  }
  for (const [instance, journal] of journals) yield* checkRepeats(instance, journal);
}

function* checkRepeats(instance: string, journal: readonly JournaledRecord[]): Generator<Violation> {
  const seen = new Map<string, JournaledRecord>();
  for (const record of journal) {
    if (record.kind !== "order" || record.clientId === null) continue;
    const earlier = seen.get(record.clientId);
    if (earlier === undefined) seen.set(record.clientId, record);
    else yield violation("I9", `${instance} holds ${record.clientId} at ${at(earlier)} and at ${at(record)}`);
  }
}
