import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { checkInvariants } from "./checkInvariants.ts";
import type { Answer, AppliedRecord, EpochPromise, History, JournaledRecord, OrderTerms } from "./history.ts";
import { type Invariant, invariants } from "./violation.ts";

const start = (epoch: number, seq: number): JournaledRecord => ({
  epoch,
  seq,
  kind: "epochStart",
  clientId: null,
  terms: null,
});

const order = (epoch: number, seq: number, clientId: string, terms: Partial<OrderTerms> = {}): JournaledRecord => ({
  epoch,
  seq,
  kind: "order",
  clientId,
  terms: { side: "buy", limit: 100, quantity: 5, ...terms },
});

const cancel = (epoch: number, seq: number, clientId: string): JournaledRecord => ({
  epoch,
  seq,
  kind: "cancel",
  clientId,
  terms: null,
});

const applied = (seq: number, more: Partial<AppliedRecord> = {}): AppliedRecord => ({
  instance: "te-0",
  start: 1,
  epoch: 1,
  seq,
  hash: `hash-${seq}`,
  effect: "resting",
  trades: [],
  bid: null,
  ask: null,
  ...more,
});

const placed = (clientId: string, epoch: number, seq: number, more: Partial<Answer> = {}): Answer => ({
  kind: "placed",
  instance: "te-0",
  term: epoch,
  clientId,
  position: { epoch, seq },
  duplicate: false,
  sentAt: seq * 10,
  answeredAt: seq * 10 + 5,
  ...more,
});

const promise = (epoch: number, at: number, more: Partial<EpochPromise> = {}): EpochPromise => ({
  kind: "given",
  instance: "te-0",
  epoch,
  at,
  ...more,
});

/** Bid, ask, an order that trades with both, and an epoch that begins: nothing wrong with it. */
const journal = [
  start(1, 1),
  order(1, 2, "bid"),
  order(1, 3, "second-bid"),
  order(1, 4, "seller", { side: "sell", limit: null, quantity: 6 }),
  cancel(1, 5, "second-bid"),
  start(2, 6),
  order(2, 7, "later"),
];

const trades = [
  { maker: 2, price: 100, quantity: 5 },
  { maker: 3, price: 100, quantity: 1 },
];

const allApplied = (instance: string): AppliedRecord[] =>
  journal.map(({ epoch, seq, kind }) =>
    applied(seq, {
      instance,
      epoch,
      effect: kind === "cancel" ? "cancelled" : "done",
      trades: seq === 4 ? trades : [],
      bid: 100,
      ask: 101,
    }),
  );

const good: History = {
  journals: new Map([
    ["te-0", journal],
    ["te-1", journal],
  ]),
  answers: [
    placed("bid", 1, 2),
    placed("second-bid", 1, 3),
    placed("seller", 1, 4),
    placed("second-bid", 1, 5, { kind: "cancelled" }),
    placed("nobody", 1, 5, { kind: "absent", position: null }),
    placed("later", 2, 7, { instance: "te-1" }),
    placed("bid", 1, 2, { instance: "te-1", term: 2, duplicate: true, sentAt: 80, answeredAt: 85 }),
  ],
  promises: [promise(1, 1), promise(1, 2, { instance: "te-1" }), promise(2, 60), promise(2, 90, { kind: "found" })],
  applied: [...allApplied("te-0"), ...allApplied("te-1")],
  mixedClusters: [],
};

const answering = (...more: Answer[]): Partial<History> => ({ answers: [...good.answers, ...more] });

const holding = (...records: JournaledRecord[]): Partial<History> => ({
  journals: new Map([
    ["te-0", journal],
    ["te-1", records],
  ]),
});

const applying = (...more: AppliedRecord[]): Partial<History> => ({ applied: [...good.applied, ...more] });

/** A run of one replica in which the record `seq` did something else. */
const doing = (seq: number, more: Partial<AppliedRecord>): Partial<History> => ({
  applied: allApplied("te-0").map((each) => (each.seq === seq ? { ...each, ...more } : each)),
});

const broken: readonly [Invariant, what: string, Partial<History>, RegExp][] = [
  [
    "I1",
    "an acknowledged order is gone",
    answering(placed("lost", 2, 8)),
    /placed lost .* at 2\/8, where te-0 holds nothing/,
  ],
  [
    "I1",
    "its record belongs to another epoch",
    answering(placed("later", 1, 7)),
    /at 1\/7, where te-0 holds order later of epoch 2/,
  ],
  [
    "I1",
    "it is denied",
    answering(placed("bid", 2, 0, { kind: "absent", position: null, instance: "te-1", sentAt: 90, answeredAt: 95 })),
    /te-1 denied bid, which te-0 had acknowledged/,
  ],
  [
    "I2",
    "one position is acknowledged to two",
    answering(placed("other", 1, 2)),
    /1\/2 was acknowledged to bid, 1\/2 to other/,
  ],
  ["I2", "a sequence number is missing", holding(start(1, 1), order(1, 3, "bid")), /te-1 holds 1\/3 as record 2/],
  ["I2", "an epoch falls", holding(start(2, 1), order(1, 2, "bid")), /te-1 holds 1\/2 behind 2\/1/],
  [
    "I2",
    "a later request comes earlier",
    {
      answers: [
        placed("seller", 1, 4, { sentAt: 1, answeredAt: 2 }),
        placed("bid", 1, 2, { sentAt: 3, answeredAt: 4 }),
      ],
    },
    /bid was sent after 1\/4 was acknowledged, and got 1\/2/,
  ],
  [
    "I3",
    "two lead one epoch",
    answering(placed("later", 2, 7, { term: 1, instance: "te-1" })),
    /te-0 and te-1 both answer in epoch 1/,
  ],
  [
    "I3",
    "a fenced primary answers",
    answering(placed("second-bid", 1, 3, { duplicate: true, sentAt: 1, answeredAt: 99 })),
    /te-0 answers second-bid in epoch 1 after it promised 2/,
  ],
  [
    "I3",
    "an old primary answers from the past",
    {
      ...answering(placed("ghost", 1, 0, { kind: "absent", position: null, sentAt: 80, answeredAt: 82 })),
      promises: [],
    },
    /te-0 answers ghost in epoch 1 although 2 had begun/,
  ],
  [
    "I4",
    "an order trades more than its size",
    doing(4, { trades: [{ maker: 2, price: 100, quantity: 6 }] }),
    /order 2 of 5 has traded 6/,
  ],
  [
    "I4",
    "an order trades with itself",
    doing(4, { trades: [{ maker: 4, price: 100, quantity: 1 }] }),
    /order 4 trades with 4/,
  ],
  ["I4", "two buyers trade", doing(3, { trades: [{ maker: 2, price: 100, quantity: 1 }] }), /orders 3 and 2 both buy/],
  [
    "I4",
    "a trade is told twice",
    doing(4, { trades: [trades[0], trades[0]].flatMap((each) => each ?? []) }),
    /order 4 trades twice with 2/,
  ],
  ["I5", "the later bid trades first", doing(4, { trades: trades.toReversed() }), /by price and time it is/],
  [
    "I6",
    "the best bid reaches the best ask",
    doing(3, { bid: 101 }),
    /after record 3 te-0 has a bid of 101 and an ask of 101/,
  ],
  [
    "I7",
    "two replicas differ",
    applying(applied(7, { epoch: 2, instance: "te-2", hash: "other", effect: "done" })),
    /te-0 and te-2 at record 7/,
  ],
  [
    "I8",
    "a start from disk differs",
    applying(applied(7, { epoch: 2, start: 2, hash: "other", effect: "done" })),
    /te-0 and te-0 at record 7/,
  ],
  [
    "I9",
    "a client id is in the journal twice",
    holding(...journal, order(2, 8, "bid")),
    /te-1 holds bid at 1\/2 and at 2\/8/,
  ],
  [
    "I9",
    "a client id is placed at two positions",
    answering(placed("bid", 2, 8)),
    /bid was placed at 1\/2 and at 2\/8/,
  ],
  [
    "I10",
    "a cancelled order trades",
    doing(7, { trades: [{ maker: 3, price: 100, quantity: 1 }] }),
    /order 3, cancelled at 5, trades at 7/,
  ],
  [
    "I11",
    "a record is left out",
    applying(applied(1, { instance: "te-2" }), applied(3, { instance: "te-2" })),
    /record 3 is shown after 1/,
  ],
  [
    "I11",
    "an uncommitted record is shown",
    applying(applied(7, { instance: "te-2", epoch: 1 })),
    /te-2 showed 1\/7, where te-0 holds 2\/7/,
  ],
  [
    "I12",
    "a promise is forgotten",
    { promises: [promise(3, 1), promise(2, 2, { kind: "found" })] },
    /te-0 had promised 3, and 2 was found later/,
  ],
  [
    "I13",
    "another cluster is let in",
    { mixedClusters: [{ from: "copy", to: "te" }] },
    /a replica of copy was let in by te/,
  ],
  [
    "I14",
    "an order is refused on one replica only",
    applying(applied(7, { epoch: 2, instance: "te-2", effect: "rejected" })),
    /done and rejected/,
  ],
];

describe("the invariants", () => {
  it("hold for a good history", () => {
    assert.deepEqual(checkInvariants(good), []);
  });

  for (const [invariant, what, change, detail] of broken) {
    it(`${invariant} (${invariants[invariant]}) does not hold when ${what}`, () => {
      const found = checkInvariants({ ...good, ...change }).filter((each) => each.invariant === invariant);
      assert.ok(
        found.some((each) => detail.test(each.detail)),
        JSON.stringify(found),
      );
    });
  }

  it("each have a history that breaks them", () => {
    assert.deepEqual(new Set(broken.map(([invariant]) => invariant)), new Set(Object.keys(invariants)));
  });
});
