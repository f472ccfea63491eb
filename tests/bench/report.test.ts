import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compare, median, percentile, tableOf } from "./report.ts";

describe("bench report", () => {
  it("takes the middle of several runs", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 2, 3]), 2.5);
    assert.throws(() => median([]), RangeError);
  });

  it("takes a percentile as a value that occurred", () => {
    const values = Array.from({ length: 100 }, (_, i) => 100 - i);
    assert.equal(percentile(values, 0.5), 50);
    assert.equal(percentile(values, 0.99), 99);
    assert.equal(percentile([7], 0.99), 7);
    assert.throws(() => percentile([], 0.5), RangeError);
  });

  it("has a ratio over 1 for the better one, whichever way a measure counts", () => {
    const time = { name: "time", unit: "ms", better: "less" } as const;
    const rate = { name: "rate", unit: "1/s", better: "more" } as const;
    assert.equal(compare(time, [10], [30]).ratio, 3);
    assert.equal(compare(rate, [30], [10]).ratio, 3);
    assert.deepEqual(compare(rate, [1.23456], [1]), {
      measure: "rate",
      unit: "1/s",
      ours: 1.235,
      clientNode: 1,
      ratio: 1.235,
    });
  });

  it("shows a table to people", () => {
    const result = { measure: "time", unit: "ms", ours: 10, clientNode: 30, ratio: 3 };
    assert.equal(
      tableOf({ results: [result] }),
      ["measure  unit  ours  client-node  ratio", "time     ms    10    30           3x", ""].join("\n"),
    );
  });
});
