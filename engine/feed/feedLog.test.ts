import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { FeedLog } from "./feedLog.ts";

const filled = (maxChars: number, ...seqs: readonly number[]): FeedLog => {
  const log = new FeedLog(maxChars);
  log.restart(1);
  for (const seq of seqs) log.add(seq, `${seq}\n`);
  return log;
};

describe("the feed's log", () => {
  it("gives the lines from a record on, and where to go on", () => {
    const log = filled(100, 2, 5, 9);
    assert.deepEqual(log.read(2, 100), { text: "2\n5\n9\n", next: 10 });
    assert.deepEqual(log.read(3, 100), { text: "5\n9\n", next: 10 });
    assert.deepEqual(log.read(10, 100), { text: "", next: 10 });
  });

  it("gives no more at a time than is asked for, but one line at least", () => {
    const log = filled(100, 2, 5, 9);
    assert.deepEqual(log.read(2, 4), { text: "2\n5\n", next: 6 });
    assert.deepEqual(log.read(2, 1), { text: "2\n", next: 3 });
  });

  it("says when lines are not here any more, instead of leaving them out", () => {
    const log = filled(4, 2, 5, 9);
    assert.equal(log.firstFrom, 3);
    assert.equal(log.read(2, 100), null);
    assert.deepEqual(log.read(3, 100), { text: "5\n9\n", next: 10 });
  });

  it("knows nothing of what was before it", () => {
    assert.equal(filled(100).read(1, 100), null);
    assert.deepEqual(filled(100).read(2, 100), { text: "", next: 2 });
  });

  it("stays within its bound for ever", () => {
    const log = new FeedLog(1_000);
    log.restart(0);
    for (let seq = 1; seq <= 100_000; seq += 1) log.add(seq, "0123456789");
    assert.equal(log.firstFrom, 100_000 - 100 + 1);
    assert.equal(log.read(log.firstFrom, 1_000_000)?.text.length, 1_000);
  });

  it("begins anew", () => {
    const log = filled(100, 2, 5);
    log.restart(7);
    assert.equal(log.read(5, 100), null);
    assert.deepEqual(log.read(8, 100), { text: "", next: 8 });
  });
});
