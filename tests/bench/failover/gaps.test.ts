import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gapsOf, summarize } from "./gaps.ts";

const change = (from: number, to: number, gapMs: number) => ({ from, to, gapMs });

describe("gaps of failovers", () => {
  it("belong to the run in which the epoch changed", () => {
    const runs = [
      { before: 1, after: 2 },
      { before: 2, after: 3 },
    ];
    assert.deepEqual(gapsOf(runs, [change(1, 2, 150), change(2, 3, 90)]), [150, 90]);
  });

  it("are the longest pause where one event cost two elections", () => {
    assert.deepEqual(gapsOf([{ before: 1, after: 3 }], [change(1, 2, 40), change(2, 3, 700)]), [700]);
  });

  it("count where the client skipped an epoch that acknowledged nothing to it", () => {
    assert.deepEqual(gapsOf([{ before: 1, after: 3 }], [change(1, 3, 500)]), [500]);
  });

  it("are unknown, and not zero, where the client saw no change", () => {
    assert.deepEqual(gapsOf([{ before: 1, after: 2 }], []), [undefined]);
  });

  it("are summed up as median, 99th percentile and maximum", () => {
    const gaps = Array.from({ length: 100 }, (_, index) => index + 1);
    assert.deepEqual(summarize(gaps), { p50: 50, p99: 99, max: 100 });
    assert.deepEqual(summarize([undefined, 7]), { p50: 7, p99: 7, max: 7 });
    assert.equal(summarize([undefined]), undefined);
  });
});
