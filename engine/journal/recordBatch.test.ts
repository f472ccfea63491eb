import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { batch, epochStart, limitOrder, orders, record } from "../testing/records.ts";
import { encodeSyncMark } from "./record.ts";
import { BadBatch, BatchWriter, decodeBatch } from "./recordBatch.ts";

describe("batch writer", () => {
  it("gives what was added since the last time, and nothing twice", () => {
    const writer = new BatchWriter();
    assert.equal(writer.take(), null);
    writer.add(epochStart(1, 1));
    const first = writer.take();
    for (const each of orders(1, 2, 3)) writer.add(each);
    const second = writer.take();
    assert.deepEqual([first?.first.seq, first?.last.seq, second?.first.seq, second?.last.seq], [1, 1, 2, 3]);
    assert.equal(writer.take(), null);
  });

  it("leaves the bytes of an earlier batch alone while it goes on", () => {
    const writer = new BatchWriter(4096);
    const taken = [];
    for (let seq = 1; seq <= 2_000; seq += 1) {
      writer.add(record(1, seq, limitOrder(`order-${seq}`)));
      if (seq % 7 === 0) taken.push(writer.take());
    }
    let previous = { epoch: 1, seq: 0 };
    for (const each of taken) {
      assert.ok(each !== null);
      const decoded = decodeBatch(each.bytes, previous);
      assert.deepEqual(decoded.records, each.records);
      previous = decoded.last;
    }
  });
});

describe("a batch from a peer", () => {
  const after = { epoch: 1, seq: 1 };

  it("continues the history", () => {
    const decoded = decodeBatch(batch(...orders(1, 2, 5)).bytes, after);
    assert.deepEqual(decoded.last, { epoch: 1, seq: 5 });
    assert.equal(decoded.records.length, 4);
  });

  const unusable: readonly [string, Buffer, RegExp][] = [
    ["a gap", batch(...orders(1, 3, 4)).bytes, /record 3 follows record 1/],
    ["a repetition", batch(...orders(1, 1, 2)).bytes, /record 1 follows record 1/],
    ["another epoch without its start", batch(...orders(2, 2, 2)).bytes, /without an epoch start/],
    ["a lower epoch", batch(...orders(0, 2, 2)).bytes, /without an epoch start/],
    ["the start of an epoch that is not higher", batch(epochStart(1, 2)).bytes, /epoch 1 starts after epoch 1/],
    ["a torn record", batch(...orders(1, 2, 3)).bytes.subarray(0, -1), /damaged entry/],
    ["a sync mark", encodeSyncMark(after), /syncMark entry/],
    ["nothing", Buffer.alloc(0), /no record in it/],
  ];
  for (const [what, bytes, message] of unusable) {
    it(`is refused when it holds ${what}`, () => {
      assert.throws(
        () => decodeBatch(bytes, after),
        (error) => error instanceof BadBatch && message.test(error.message),
      );
    });
  }

  it("may begin the next epoch", () => {
    const decoded = decodeBatch(batch(epochStart(3, 2), ...orders(3, 3, 4)).bytes, after);
    assert.deepEqual(decoded.last, { epoch: 3, seq: 4 });
  });
});
