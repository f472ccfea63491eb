import type { AppliedRecord, History } from "./history.ts";
import { at, type Violation, violation } from "./violation.ts";

/** I7, I8 and I14: every application of a record, on whichever replica and after whichever start, does the same. */
export function* checkAgreement({ applied }: History): Generator<Violation> {
  const first = new Map<number, AppliedRecord>();
  for (const each of applied) {
    const reference = first.get(each.seq);
    if (reference === undefined) {
      first.set(each.seq, each);
      continue;
    }
    const who = `${reference.instance} and ${each.instance} at record ${each.seq}`;
    // The same replica saw the same record before it was started anew: what differs is what it started from.
    const invariant = reference.instance === each.instance ? "I8" : "I7";
    if (reference.hash !== each.hash) yield violation(invariant, `${who}: ${reference.hash} and ${each.hash}`);
    if (reference.effect !== each.effect) yield violation("I14", `${who}: ${reference.effect} and ${each.effect}`);
  }
}

/** I11: what each start of a replica shows, in order. */
export function* checkShown({ applied, journals }: History): Generator<Violation> {
  const previous = new Map<string, AppliedRecord>();
  for (const each of applied) {
    const start = `${each.instance}, start ${each.start}`;
    const before = previous.get(start);
    previous.set(start, each);
    if (before !== undefined && each.seq !== before.seq + 1) {
      yield violation("I11", `${start}: record ${each.seq} is shown after ${before.seq}`);
    }
  }
  for (const [instance, journal] of journals) {
    for (const each of applied) {
      const record = journal[each.seq - 1];
      if (record?.epoch === each.epoch) continue;
      const found = record === undefined ? "nothing" : at(record);
      yield violation("I11", `${each.instance} showed ${at(each)}, where ${instance} holds ${found}`);
    }
  }
}
