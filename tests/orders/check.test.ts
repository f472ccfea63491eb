import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Ack } from "./ackLog.ts";
import { checkHistory, type HistoryReport, type JournalRecord, keepsPromise } from "./check.ts";

const order = (epoch: number, seq: number, clientId = `c-${seq}`): JournalRecord => ({
  epoch,
  seq,
  type: "order",
  clientId,
  orderId: `o-${seq}`,
});
const epochStart = (epoch: number, seq: number): JournalRecord => ({ epoch, seq, type: "epochStart" });
/** The acknowledgement of `order(epoch, seq)`, sent 1 ms before it arrived. */
const ack = (epoch: number, seq: number, ackedMs: number, changes: Partial<Ack> = {}): Ack => ({
  clientId: `c-${seq}`,
  epoch,
  seq,
  orderId: `o-${seq}`,
  duplicate: false,
  sentMs: ackedMs - 1,
  ackedMs,
  ...changes,
});

const journal = [epochStart(1, 1), order(1, 2), order(1, 3), epochStart(2, 4), order(2, 5), order(2, 6)];
const acks = [ack(1, 2, 100), ack(1, 3, 110), ack(2, 5, 400), ack(2, 6, 410)];

describe("checkHistory", () => {
  it("reports a clean failover", () => {
    const report = checkHistory({ acks, journal, unresolved: 0 });
    assert.deepEqual(report, {
      acked: 4,
      lostAcked: 0,
      dualAcks: 0,
      lateAcks: 0,
      duplicatesInJournal: 0,
      gapsInSeq: 0,
      epochsNonDecreasing: true,
      unresolved: 0,
      epochChanges: [{ from: 1, to: 2, gapMs: 290 }],
      failoverGapMs: 290,
      violations: [],
    } satisfies HistoryReport);
    assert.ok(keepsPromise(report));
  });

  it("has no gap to report without a change of epoch", () => {
    const report = checkHistory({ acks: acks.slice(0, 2), journal, unresolved: 3 });
    assert.equal(report.failoverGapMs, null);
    assert.equal(report.unresolved, 3);
  });

  it("lets the journal hold orders that were never acknowledged", () => {
    assert.ok(keepsPromise(checkHistory({ acks: acks.slice(3), journal, unresolved: 0 })));
  });

  it("does not take a cancellation for a second copy of its order", () => {
    const cancel: JournalRecord = { epoch: 2, seq: 7, type: "cancel", clientId: "c-5" };
    assert.ok(keepsPromise(checkHistory({ acks, journal: [...journal, cancel], unresolved: 0 })));
  });

  const faults: {
    name: string;
    acks?: Ack[];
    journal?: JournalRecord[];
    expected: Partial<HistoryReport>;
    says: RegExp;
  }[] = [
    {
      name: "an acknowledged order that is not in the journal",
      acks: [...acks, ack(2, 7, 420)],
      expected: { lostAcked: 1 },
      says: /c-7, acknowledged at epoch 2 seq 7, is not in the journal/,
    },
    {
      name: "an order that survived at another position",
      acks: [ack(1, 2, 100, { epoch: 2 })],
      expected: { lostAcked: 1 },
      says: /acknowledged at epoch 2 seq 2, is in the journal at epoch 1 seq 2/,
    },
    {
      name: "an order that survived under another order id",
      acks: [ack(1, 2, 100, { orderId: "o-99" })],
      expected: { lostAcked: 1 },
      says: /is order o-2 in the journal but was acknowledged as o-99/,
    },
    {
      name: "an order that the journal holds twice",
      journal: [...journal, order(2, 7, "c-5")],
      expected: { lostAcked: 1, duplicatesInJournal: 1 },
      says: /c-5 is in the journal at epoch 2 seq 5 and again at epoch 2 seq 7/,
    },
    {
      name: "an order acknowledged at two positions",
      acks: [...acks, ack(2, 5, 420, { seq: 6, orderId: "o-6" })],
      expected: { dualAcks: 2, lostAcked: 0 },
      says: /c-5 was acknowledged at epoch 2 seq 5 and at epoch 2 seq 6/,
    },
    {
      name: "one position acknowledged to two orders",
      acks: [...acks, ack(1, 6, 105, { clientId: "c-other" })],
      expected: { dualAcks: 1, lostAcked: 1 },
      says: /seq 6 was acknowledged to c-6 and, in epoch 1, to c-other/,
    },
    {
      name: "an old primary that acknowledges what was sent after the new one began",
      acks: [ack(1, 2, 100), ack(2, 5, 400), ack(1, 3, 500)],
      expected: { dualAcks: 1, lateAcks: 1, lostAcked: 0 },
      says: /c-3 was acknowledged by epoch 1 although epoch 2 acknowledged before/,
    },
    {
      name: "a gap in the journal",
      journal: journal.filter((record) => record.seq !== 4),
      expected: { gapsInSeq: 1 },
      says: /goes from epoch 1 seq 3 to epoch 2 seq 5/,
    },
    {
      name: "an epoch that falls back",
      journal: [...journal, order(1, 7)],
      expected: { epochsNonDecreasing: false },
      says: /falls back from epoch 2 seq 6 to epoch 1 seq 7/,
    },
  ];
  for (const fault of faults) {
    it(`finds ${fault.name}`, () => {
      const report = checkHistory({ acks: fault.acks ?? acks, journal: fault.journal ?? journal, unresolved: 0 });
      assert.equal(keepsPromise(report), false);
      for (const [field, value] of Object.entries(fault.expected)) {
        assert.equal(report[field as keyof HistoryReport], value, `${field}: ${report.violations.join("; ")}`);
      }
      assert.match(report.violations.join("; "), fault.says);
    });
  }

  it("accepts the original answer of an old epoch, given again by the new primary", () => {
    const again = ack(1, 3, 500, { duplicate: true });
    const report = checkHistory({ acks: [ack(1, 2, 100), ack(2, 5, 400), again], journal, unresolved: 0 });
    assert.ok(keepsPromise(report), report.violations.join("; "));
    assert.equal(report.lateAcks, 0);
  });

  it("counts, but does not hold against the engine, an answer that was under way when the epoch changed", () => {
    const underWay = ack(1, 3, 500, { sentMs: 350 });
    const report = checkHistory({ acks: [ack(1, 2, 100), ack(2, 5, 400), underWay], journal, unresolved: 0 });
    assert.ok(keepsPromise(report), report.violations.join("; "));
    assert.equal(report.lateAcks, 1);
  });

  it("names only the first violations", () => {
    const many = Array.from({ length: 1000 }, (_, n) => ack(2, 1000 + n, n));
    const report = checkHistory({ acks: many, journal, unresolved: 0 });
    assert.equal(report.lostAcked, 1000);
    assert.ok(report.violations.length <= 20);
  });
});

interface History {
  readonly journal: JournalRecord[];
  readonly acks: Ack[];
}

/** A history that keeps the promise: epochs follow each other, some orders are acknowledged, some answers are repeated. */
const honestHistory: fc.Arbitrary<History> = fc
  .array(fc.array(fc.constantFrom("acked", "silent", "repeated"), { minLength: 1, maxLength: 20 }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((epochs) => {
    const journal: JournalRecord[] = [];
    const acks: Ack[] = [];
    let ms = 0;
    epochs.forEach((fates, index) => {
      const epoch = index + 1;
      journal.push(epochStart(epoch, journal.length + 1));
      for (const fate of fates) {
        const seq = journal.length + 1;
        journal.push(order(epoch, seq));
        ms += 5;
        if (fate !== "silent") acks.push(ack(epoch, seq, ms));
        if (fate === "repeated") acks.push(ack(epoch, seq, ms + 2, { duplicate: true }));
      }
    });
    return { journal, acks };
  })
  .filter((history) => history.acks.length > 0);

/** Each breaks the promise at the acknowledgement that `pick` (0 to 1) falls on, and names the count that must show it. */
const breakages: Record<string, { shows: keyof HistoryReport; apply(history: History, victim: Ack): History }> = {
  "lose an acknowledged order": {
    shows: "lostAcked",
    apply: ({ journal, acks }, victim) => ({
      acks,
      journal: journal.map((record) =>
        record.clientId === victim.clientId ? epochStart(record.epoch, record.seq) : record,
      ),
    }),
  },
  "sequence an order twice": {
    shows: "duplicatesInJournal",
    apply: ({ journal, acks }, victim) => {
      const last = journal.at(-1) ?? epochStart(1, 0);
      return { acks, journal: [...journal, order(last.epoch, last.seq + 1, victim.clientId)] };
    },
  },
  "cut a record out of the journal": {
    shows: "gapsInSeq",
    apply: ({ journal, acks }, victim) => ({
      acks,
      // One record more at the end, so that what is cut is never the last.
      journal: [...journal, order(99, journal.length + 1)].filter(
        (record) => record.seq !== victim.seq || record.seq === 1,
      ),
    }),
  },
  "acknowledge an order at a second position": {
    shows: "dualAcks",
    apply: ({ journal, acks }, victim) => ({ journal, acks: [...acks, { ...victim, seq: victim.seq + 1000 }] }),
  },
  "acknowledge a position to a second order": {
    shows: "dualAcks",
    apply: ({ journal, acks }, victim) => ({ journal, acks: [...acks, { ...victim, clientId: "intruder" }] }),
  },
  "acknowledge by an old epoch": {
    shows: "dualAcks",
    apply: ({ journal, acks }, victim) => {
      const end = (acks.at(-1)?.ackedMs ?? 0) + 100;
      return {
        journal,
        acks: [...acks, ack(99, 5000, end), ack(victim.epoch, 6000, end + 50)],
      };
    },
  },
};

describe("checkHistory over random histories", () => {
  it("finds nothing in a history that keeps the promise", () => {
    fc.assert(
      fc.property(honestHistory, (history) => {
        const report = checkHistory({ ...history, unresolved: 0 });
        assert.deepEqual(report.violations, []);
        assert.ok(keepsPromise(report));
        assert.equal(report.lateAcks, 0);
      }),
    );
  });

  for (const [name, breakage] of Object.entries(breakages)) {
    it(`always finds: ${name}`, () => {
      fc.assert(
        fc.property(honestHistory, fc.nat(), (history, pick) => {
          const victim = history.acks[pick % history.acks.length];
          assert.ok(victim !== undefined);
          const report = checkHistory({ ...breakage.apply(history, victim), unresolved: 0 });
          assert.equal(keepsPromise(report), false);
          assert.ok(Number(report[breakage.shows]) > 0, `${breakage.shows} of ${JSON.stringify(report)}`);
        }),
      );
    });
  }
});
