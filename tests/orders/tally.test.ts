import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Tally } from "./tally.ts";

const acked = (epoch: number, ackedMs: number, duplicate = false) => ({
  kind: "acked" as const,
  ack: { epoch, seq: ackedMs, orderId: `o-${ackedMs}`, duplicate },
  sentMs: ackedMs - 1,
  ackedMs,
});

describe("Tally", () => {
  it("reports nothing before the first outcome", () => {
    const report = new Tally().report(5);
    assert.equal(report.acked, 0);
    assert.equal(report.epoch, null);
    assert.equal(report.sinceLastAckMs, null);
    assert.deepEqual(report.epochs, []);
  });

  it("keeps first and last acknowledgement of each epoch and the longest gap", () => {
    const tally = new Tally();
    for (const [epoch, ms] of [
      [1, 100],
      [1, 110],
      [2, 910],
      [2, 915],
    ] as const)
      tally.acked(acked(epoch, ms), false);
    const report = tally.report(1000);
    assert.deepEqual(report.epochs, [
      { epoch: 1, acks: 2, firstAckMs: 100, lastAckMs: 110 },
      { epoch: 2, acks: 2, firstAckMs: 910, lastAckMs: 915 },
    ]);
    assert.equal(report.longestGapMs, 800);
    assert.equal(report.sinceLastAckMs, 85);
    assert.equal(report.epoch, 2);
  });

  it("does not let a repeated answer of an old epoch look like that epoch's life", () => {
    const tally = new Tally();
    tally.acked(acked(1, 100), false);
    tally.acked(acked(2, 200), false);
    tally.acked(acked(1, 300, true), false);
    const report = tally.report(300);
    assert.equal(report.epoch, 2);
    assert.equal(report.epochs[0]?.lastAckMs, 100);
    assert.equal(report.acked, 3);
  });

  it("counts an order sent once more apart", () => {
    const tally = new Tally();
    tally.acked(acked(1, 100), false);
    tally.acked(acked(1, 120, true), true);
    assert.deepEqual([tally.report(120).acked, tally.report(120).repeated], [1, 1]);
  });

  it("gives the rate of the last full second, and zero after a silent one", () => {
    const tally = new Tally();
    for (let ms = 1000; ms < 2000; ms += 100) tally.acked(acked(1, ms), false);
    assert.equal(tally.report(2500).acksPerSecond, 10);
    assert.equal(tally.report(3500).acksPerSecond, 0);
  });

  it("keeps the first reasons of refusals only", () => {
    const tally = new Tally();
    for (let n = 0; n < 100; n++) tally.refused(`400 BAD ${n}`);
    tally.retried("ECONNRESET");
    tally.unresolved();
    const report = tally.report(0);
    assert.equal(report.refused, 100);
    assert.equal(report.refusals.length, 5);
    assert.deepEqual([report.retries, report.lastRetryReason, report.unresolved], [1, "ECONNRESET", 1]);
  });
});
