import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { orderTypes, selfTradePreventions, sides, timesInForce } from "../book/terms.ts";
import { epochStart, limitOrder, record } from "../testing/records.ts";
import { UnknownRecordKind } from "./commandCodec.ts";
import {
  comparePositions,
  encodeRecord,
  encodeSyncMark,
  entryLength,
  headerBytes,
  holdsSyncMark,
  type JournalRecord,
  maxEntryBytes,
  readEntry,
} from "./record.ts";

const encoded = (each: JournalRecord): Buffer => {
  const bytes = Buffer.alloc(maxEntryBytes);
  return bytes.subarray(0, encodeRecord(each, bytes, 0));
};

const integer = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const clientId = fc.string({
  minLength: 1,
  maxLength: 64,
  unit: fc.constantFrom("a", "Z", "0", "9", ".", "_", ":", "-"),
});
const account = fc.oneof(fc.constant(""), clientId);
const plain = { noNullPrototype: true } as const;
const anyRecord: fc.Arbitrary<JournalRecord> = fc.record(
  {
    epoch: fc.integer({ min: 1, max: 0xffff_ffff }),
    seq: integer,
    committed: integer,
    command: fc.oneof(
      fc.record(
        {
          kind: fc.constant("order" as const),
          account,
          clientId,
          side: fc.constantFrom(...sides),
          type: fc.constantFrom(...orderTypes),
          price: integer,
          stopPrice: integer,
          quantity: integer,
          timeInForce: fc.constantFrom(...timesInForce),
          postOnly: fc.boolean(),
          selfTrade: fc.constantFrom(...selfTradePreventions),
          after: integer,
        },
        plain,
      ),
      fc.record(
        {
          kind: fc.constant("replace" as const),
          account,
          clientId,
          target: clientId,
          price: integer,
          stopPrice: integer,
          quantity: integer,
          after: integer,
        },
        plain,
      ),
      fc.record({ kind: fc.constant("cancel" as const), account, clientId }, plain),
      fc.record(
        {
          kind: fc.constant("epochStart" as const),
          previous: fc.record({ epoch: fc.nat(), seq: integer }, plain),
          instance: fc.string({ maxLength: 60 }),
          tradingPair: fc.string({ maxLength: 20 }),
          tickSize: fc.constant("0.01"),
          lotSize: fc.constant("1"),
          clientIdWindow: integer,
        },
        plain,
      ),
    ),
  },
  plain,
);

describe("record encoding", () => {
  it("gives back every record as it was", () => {
    fc.assert(fc.property(anyRecord, (each) => assert.deepEqual(readEntry(encoded(each), 0), each)));
  });

  it("refuses what would be read back as something else", () => {
    const bytes = Buffer.alloc(maxEntryBytes);
    const refuses = (terms: Parameters<typeof limitOrder>[1]) =>
      assert.throws(() => encodeRecord(record(1, 2, limitOrder("one", terms)), bytes, 0), RangeError);
    for (const number of [Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 2 ** 53]) {
      refuses({ price: number });
      refuses({ quantity: number });
    }
    refuses({ account: "\u00fc" });
    refuses({ clientId: "x".repeat(256) });
  });

  it("gives the entry's length, so that the next one is found", () => {
    const bytes = encoded(record(1, 2, limitOrder("one")));
    assert.equal(entryLength(bytes, 0), bytes.length);
  });

  it("notices any changed byte behind the length", () => {
    const bytes = encoded(record(3, 7, limitOrder("one")));
    for (let at = 4; at < bytes.length; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 0x40, at);
      assert.equal(readEntry(damaged, 0), "damaged", `byte ${at}`);
    }
  });

  it("takes no length for true that cannot be", () => {
    for (const length of [0, headerBytes - 1, maxEntryBytes + 1, 0xffff_ffff]) {
      const bytes = encoded(record(3, 7, limitOrder("one")));
      bytes.writeUInt32LE(length, 0);
      assert.equal(readEntry(bytes, 0), "damaged");
    }
  });

  it("notices an entry that is cut short anywhere", () => {
    const bytes = encoded(epochStart(1, 1));
    for (let length = 0; length < bytes.length; length += 1) {
      assert.equal(readEntry(bytes.subarray(0, length), 0), "damaged");
    }
  });

  it("refuses a kind of a later release instead of passing over it", () => {
    const mark = encodeSyncMark({ epoch: 1, seq: 1 });
    assert.equal(readEntry(mark, 0), "syncMark");
    const error = new UnknownRecordKind(9);
    assert.match(error.message, /record kind 9 is unknown to this release/);
  });
});

describe("sync marks", () => {
  const mark = encodeSyncMark({ epoch: 4, seq: 99 });

  it("are found behind damage", () => {
    const bytes = Buffer.concat([Buffer.alloc(57, 0xee), mark]);
    assert.equal(holdsSyncMark(bytes, 0), true);
    assert.equal(holdsSyncMark(bytes, 58), false);
  });

  it("do not count when they are damaged themselves", () => {
    const damaged = Buffer.from(mark);
    damaged.writeUInt8(1, 17);
    assert.equal(holdsSyncMark(damaged, 0), false);
    assert.equal(holdsSyncMark(mark.subarray(0, mark.length - 1), 0), false);
  });

  it("are not found in what clients send", () => {
    const ids = Array.from({ length: 50 }, (_, index) => encoded(record(1, index, limitOrder("SYNC".repeat(16)))));
    assert.equal(holdsSyncMark(Buffer.concat(ids), 0), false);
  });
});

describe("positions", () => {
  it("are ordered by epoch first: a longer tail of an older epoch is behind", () => {
    assert.ok(comparePositions({ epoch: 1, seq: 100 }, { epoch: 2, seq: 50 }) < 0);
    assert.ok(comparePositions({ epoch: 2, seq: 51 }, { epoch: 2, seq: 50 }) > 0);
    assert.equal(comparePositions({ epoch: 2, seq: 50 }, { epoch: 2, seq: 50 }), 0);
  });
});
