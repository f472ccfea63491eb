import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ElectionPacing } from "./electionPacing.ts";

describe("the pacing of elections", () => {
  it("lets a first try begin at once, and repeats at a doubling distance up to a second", () => {
    const pacing = new ElectionPacing();
    assert.equal(pacing.delayOf("Silent", 0), 0);
    const waits = [0, 1, 2, 3].map(() => pacing.failed("Silent", 0));
    assert.deepEqual(waits, [250, 500, 1_000, 1_000]);
    assert.equal(pacing.delayOf("Silent", 400), 600);
    assert.equal(pacing.delayOf("Silent", 1_000), 0);
  });

  it("never lets a planned move that failed delay a death", () => {
    const pacing = new ElectionPacing();
    pacing.failed("PodLeaving", 0);
    assert.ok(pacing.delayOf("PodLeaving", 1) > 0);
    assert.equal(pacing.delayOf("ProcessExited", 1), 0);
  });

  it("begins anew after a success, and for another cause", () => {
    const pacing = new ElectionPacing();
    pacing.failed("Silent", 0);
    pacing.failed("Silent", 0);
    assert.equal(pacing.failed("ProcessExited", 0), 250);
    pacing.succeeded();
    assert.equal(pacing.delayOf("ProcessExited", 0), 0);
  });
});
