import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { decodeBatch } from "../journal/recordBatch.ts";
import { batch, orders } from "../testing/records.ts";
import { RecentBatches } from "./recentBatches.ts";

describe("recent batches", () => {
  it("give what follows a record, from the middle of a batch too", () => {
    const recent = new RecentBatches();
    recent.add(batch(...orders(1, 5, 9)), 0);
    recent.add(batch(...orders(1, 10, 12)), 0);
    for (const [seq, lastSeq] of [
      [5, 9],
      [7, 9],
      [9, 9],
      [10, 12],
    ] as const) {
      const piece = recent.from(seq);
      assert.ok(piece !== null);
      assert.equal(piece.lastSeq, lastSeq);
      assert.equal(decodeBatch(piece.bytes, { epoch: 1, seq: seq - 1 }).first.seq, seq);
    }
  });

  it("have nothing before the first or behind the last", () => {
    const recent = new RecentBatches();
    assert.equal(recent.from(1), null);
    recent.add(batch(...orders(1, 5, 9)), 0);
    assert.equal(recent.from(4), null);
    assert.equal(recent.from(10), null);
  });

  it("forget the oldest beyond their size, but nothing that is not on disk", () => {
    const one = batch(...orders(1, 1, 1));
    const recent = new RecentBatches(one.bytes.length * 2);
    recent.add(one, 0);
    for (let seq = 2; seq <= 5; seq += 1) recent.add(batch(...orders(1, seq, seq)), 1);
    assert.equal(recent.from(1), null);
    assert.equal(recent.from(2)?.lastSeq, 2);
    recent.add(batch(...orders(1, 6, 6)), 5);
    assert.equal(recent.from(4), null);
    assert.equal(recent.from(5)?.lastSeq, 5);
  });
});
