import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { epochStart, limitOrder, record } from "../testing/records.ts";
import { commonEnd, type EpochTable, epochAt, epochEntryOf, lastEpochLedBy } from "./epochTable.ts";

const table = (end: number, ...starts: readonly [epoch: number, startSeq: number][]): EpochTable => ({
  entries: starts.map(([epoch, startSeq]) => ({ epoch, startSeq, instance: `led-${epoch}` })),
  end,
});

describe("where two histories part", () => {
  const cases: readonly [string, EpochTable, EpochTable, number][] = [
    ["both empty", table(0), table(0), 0],
    ["one empty", table(9, [1, 1]), table(0), 0],
    ["the shorter of one epoch", table(9, [1, 1]), table(5, [1, 1]), 5],
    ["a tail that the next epoch replaced", table(9, [1, 1]), table(20, [1, 1], [2, 6]), 5],
    ["a tail as long as its replacement", table(9, [1, 1]), table(9, [1, 1], [2, 6]), 5],
    ["an epoch that only one ever had", table(9, [1, 1], [2, 6]), table(20, [1, 1], [3, 8]), 5],
    ["several epochs in common", table(30, [1, 1], [2, 6], [5, 20]), table(25, [1, 1], [2, 6], [5, 20]), 25],
    ["nothing in common", table(9, [1, 1]), table(9, [2, 1]), 0],
  ];
  for (const [what, a, b, expected] of cases) {
    it(`${what}: after record ${expected}`, () => {
      assert.equal(commonEnd(a, b), expected);
      assert.equal(commonEnd(b, a), expected);
    });
  }

  it("is where their records first differ, for any two histories of one engine", () => {
    // A history is grown by appending under the newest epoch, or by a new epoch that cuts a tail first.
    const growth = fc.array(fc.record({ cut: fc.nat(4), records: fc.integer({ min: 1, max: 5 }) }), { maxLength: 6 });
    fc.assert(
      fc.property(growth, growth, growth, (shared, left, right) => {
        let epoch = 0;
        const grow = (from: readonly number[], steps: typeof shared): number[] => {
          let epochs = [...from];
          for (const { cut, records } of steps) {
            epoch += 1;
            epochs = epochs.slice(0, Math.max(0, epochs.length - cut));
            for (let count = 0; count < records; count += 1) epochs.push(epoch);
          }
          return epochs;
        };
        const base = grow([], shared);
        const [a, b] = [grow(base, left), grow(base, right)];
        const firstDifference = a.findIndex((each, index) => each !== b[index]);
        const expected = firstDifference === -1 ? a.length : firstDifference;
        assert.equal(commonEnd(tableOf(a), tableOf(b)), expected);
      }),
    );
  });
});

/** The table of a history given as the epoch of each record. */
const tableOf = (epochs: readonly number[]): EpochTable => ({
  entries: epochs.flatMap((epoch, index) =>
    epochs[index - 1] === epoch ? [] : [{ epoch, startSeq: index + 1, instance: "any" }],
  ),
  end: epochs.length,
});

describe("an epoch table", () => {
  const { entries } = table(30, [1, 1], [4, 10]);

  it("knows the epoch of a record", () => {
    assert.deepEqual(
      [0, 1, 9, 10, 30].map((seq) => epochAt(entries, seq)),
      [0, 1, 1, 4, 4],
    );
  });

  it("knows who led last when", () => {
    assert.equal(lastEpochLedBy(entries, "led-1"), 1);
    assert.equal(lastEpochLedBy(entries, "never"), 0);
  });

  it("grows by epoch starts only", () => {
    assert.deepEqual(epochEntryOf(epochStart(3, 8, { instance: "te-2" })), { epoch: 3, startSeq: 8, instance: "te-2" });
    assert.equal(epochEntryOf(record(3, 9, limitOrder("one"))), null);
  });
});
