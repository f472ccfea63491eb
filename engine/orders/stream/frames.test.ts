import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { orderStatuses, orderTypes, reasons, selfTradePreventions, sides, timesInForce } from "../../book/terms.ts";
import { limitOrder } from "../../testing/records.ts";
import { type Answer, correlationAt, FrameReader, readAnswer, readRequest } from "./frameReader.ts";
import { FrameWriter } from "./frameWriter.ts";
import { MalformedFrame, maxAnswerBytes, maxRequestBytes, problemCodes } from "./protocol.ts";
import { faultOfRequest, type OrderRequest } from "./requestFault.ts";

const encoded = (write: (writer: FrameWriter) => void): Buffer => {
  const writer = new FrameWriter();
  write(writer);
  return Buffer.from(writer.take());
};

const requestOf = (bytes: Buffer) => readRequest(bytes, 0, bytes.length);
const answerOf = (bytes: Buffer): Answer => readAnswer(bytes, 0, bytes.length);

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const u32 = fc.nat({ max: 0xffff_ffff });
const clientId = fc.stringMatching(/^[A-Za-z0-9._:-]{1,64}$/);
const increments = fc.option(fc.constant({ tickSize: "0.01", lotSize: "0.00001" }));
const trades = fc.array(fc.tuple(count, count), { maxLength: 20 }).map((pairs) => pairs.flat());
const named = (name: string) => ({ account: "", clientId: name });

const id = fc.record({ account: fc.stringMatching(/^[A-Za-z0-9._:-]{0,64}$/), clientId }, { noNullPrototype: true });

const place = fc
  .tuple(
    id,
    fc.record({
      side: fc.constantFrom(...sides),
      type: fc.constantFrom(...orderTypes),
      price: count,
      stopPrice: count,
      quantity: count,
      timeInForce: fc.constantFrom(...timesInForce),
      postOnly: fc.boolean(),
      selfTrade: fc.constantFrom(...selfTradePreventions),
      after: count,
    }),
  )
  .map(([ids, terms]) => ({ kind: "order" as const, ...ids, ...terms }));

const replace = fc
  .tuple(id, fc.record({ target: clientId, price: count, stopPrice: count, quantity: count, after: count }))
  .map(([ids, terms]) => ({ kind: "replace" as const, ...ids, ...terms }));

describe("an order frame", () => {
  it("says what was written into it", () => {
    fc.assert(
      fc.property(u32, place, (correlation, expected) => {
        const bytes = encoded((writer) => writer.place(correlation, expected));
        assert.deepEqual(requestOf(bytes), expected);
        assert.equal(correlationAt(bytes, 0), correlation);
      }),
    );
  });

  it("may put it in the place of another", () => {
    fc.assert(
      fc.property(u32, replace, (correlation, expected) => {
        assert.deepEqual(requestOf(encoded((writer) => writer.replace(correlation, expected))), expected);
      }),
    );
  });

  it("has the layout of the documentation", () => {
    const order = limitOrder("one", {
      account: "ab",
      side: "sell",
      price: 0x1_0000_0002,
      quantity: 3,
      timeInForce: "fok",
      postOnly: true,
      selfTrade: "cancelBoth",
      after: 4,
    });
    const bytes = encoded((writer) => writer.place(7, order));
    assert.equal(
      bytes.toString("hex"),
      [
        "35000000", // length
        "01", // type: place
        "01", // side: sell
        "00", // order type: limit
        "02", // time in force: fok
        "07000000", // correlation
        "01", // post-only
        "02", // self-trade prevention: cancelBoth
        "03", // length of the client id
        "02", // length of the account
        "0200000001000000", // price
        "0000000000000000", // stop price
        "0300000000000000", // quantity
        "0400000000000000", // after
        "6f6e65", // client id
        "6162", // account
      ].join(""),
    );
  });

  const invalid: readonly [string, number, string][] = [
    ["an unknown side", 5, "BAD_SIDE"],
    ["an unknown type", 6, "BAD_TYPE"],
    ["an unknown time in force", 7, "BAD_TIME_IN_FORCE"],
    ["an unknown self-trade prevention", 13, "BAD_SELF_TRADE"],
  ];
  for (const [what, at, code] of invalid) {
    it(`is invalid, not malformed, with ${what}`, () => {
      const bytes = encoded((writer) => writer.place(7, limitOrder("one")));
      bytes.writeUInt8(200, at);
      assert.deepEqual(requestOf(bytes), { kind: "invalid", code });
    });
  }

  const faulty: readonly [string, (bytes: Buffer) => unknown, string][] = [
    ["a price beyond exact numbers", (bytes) => bytes.writeUInt8(1, 16 + 7), "BAD_PRICE"],
    ["a quantity beyond exact numbers", (bytes) => bytes.writeUInt8(1, 32 + 7), "BAD_QUANTITY"],
    ["a sequence number beyond exact numbers", (bytes) => bytes.writeUInt8(1, 40 + 7), "BAD_AFTER"],
    ["a client id with a space", (bytes) => bytes.write(" ", 48), "BAD_CLIENT_ID"],
  ];
  for (const [what, spoil, code] of faulty) {
    it(`is at fault with ${what}`, () => {
      const bytes = encoded((writer) => writer.place(7, limitOrder("one")));
      spoil(bytes);
      assert.equal(faultOfRequest(requestOf(bytes) as OrderRequest), code);
    });
  }
});

describe("other requests", () => {
  it("name the order by account and client id", () => {
    const expected = { account: "a", clientId: "one" };
    const cancelled = requestOf(encoded((writer) => writer.cancel(1, expected)));
    assert.deepEqual(cancelled, { kind: "cancel", ...expected });
    const found = requestOf(encoded((writer) => writer.find(2, expected)));
    assert.deepEqual(found, { kind: "find", ...expected });
  });

  it("that only say something are short", () => {
    assert.deepEqual(requestOf(encoded((writer) => writer.heartbeat())), { kind: "heartbeat" });
    assert.deepEqual(requestOf(encoded((writer) => writer.leave())), { kind: "goodbye" });
  });

  const cancel = encoded((writer) => writer.cancel(1, named("one")));
  const malformed: readonly [string, Buffer][] = [
    ["of an unknown type", Buffer.from([12, 0, 0, 0, 99, 0, 0, 0, 0, 0, 0, 0])],
    ["with a client id of another length", Buffer.concat([cancel, Buffer.from("x")])],
    ["that end before the client id", cancel.subarray(0, 14)],
  ];
  for (const [what, bytes] of malformed) {
    it(`are malformed ${what}`, () => assert.throws(() => requestOf(bytes), MalformedFrame));
  }
});

describe("an answer frame", () => {
  const placed = fc.record(
    {
      status: fc.constantFrom(...orderStatuses),
      reason: fc.option(fc.constantFrom(...reasons)),
      duplicate: fc.boolean(),
      epoch: u32,
      seq: count,
      filled: count,
      trades,
      increments,
    },
    { noNullPrototype: true },
  );

  it("says what became of an order", () => {
    fc.assert(
      fc.property(u32, placed, (correlation, frame) => {
        const bytes = encoded((writer) => writer.placed(correlation, frame));
        assert.deepEqual(answerOf(bytes), { type: "placed", correlation, frame });
      }),
    );
  });

  it("says where an order stands now, beside its first answer", () => {
    const now = fc.record(
      {
        status: fc.constantFrom(...orderStatuses),
        reason: fc.option(fc.constantFrom(...reasons)),
        filled: count,
        remaining: count,
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(u32, placed, now, (correlation, first, state) => {
        const frame = { ...first, now: state };
        const bytes = encoded((writer) => writer.found(correlation, frame));
        assert.deepEqual(answerOf(bytes), { type: "found", correlation, frame });
      }),
    );
  });

  it("says what became of a cancellation", () => {
    const frame = fc.record(
      {
        duplicate: fc.boolean(),
        epoch: u32,
        seq: count,
        filled: count,
        orderEpoch: u32,
        orderSeq: count,
        increments,
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(u32, frame, (correlation, expected) => {
        const bytes = encoded((writer) => writer.cancelled(correlation, expected));
        assert.deepEqual(answerOf(bytes), { type: "cancelled", correlation, frame: expected });
      }),
    );
  });

  for (const code of problemCodes) {
    it(`says ${code} in a number and in words`, () => {
      const bytes = encoded((writer) => writer.problem(3, { code, detail: "why: Ω" }));
      assert.deepEqual(answerOf(bytes), { type: "problem", correlation: 3, frame: { code, detail: "why: Ω" } });
    });
  }

  it("is malformed when its trades go beyond its end", () => {
    const frame = {
      status: "filled",
      reason: null,
      duplicate: false,
      epoch: 1,
      seq: 1,
      filled: 1,
      increments: null,
    } as const;
    const bytes = encoded((writer) => writer.placed(1, { ...frame, trades: [1, 1] }));
    bytes.writeUInt32LE(2, 32);
    assert.throws(() => answerOf(bytes), MalformedFrame);
  });
});

describe("a stream of frames", () => {
  it("is cut at the frames, wherever the network cuts it", () => {
    const bytes = encoded((writer) => {
      for (let count = 0; count < 5; count += 1) writer.cancel(count, named(`order-${"x".repeat(count * 7)}`));
    });
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 8 }), (cuts) => {
        const reader = new FrameReader(maxRequestBytes);
        const seen: unknown[] = [];
        const ends = [...cuts.sort((a, b) => a - b), bytes.length];
        for (const [index, end] of ends.entries()) {
          reader.push(bytes.subarray(ends[index - 1] ?? 0, end));
          while (reader.advance()) seen.push(correlationAt(reader.bytes, reader.start));
        }
        assert.deepEqual(seen, [0, 1, 2, 3, 4]);
      }),
    );
  });

  for (const length of [0, 11, maxRequestBytes + 1]) {
    it(`is given up at a frame of ${length} bytes`, () => {
      const reader = new FrameReader(maxRequestBytes);
      const bytes = Buffer.alloc(300);
      bytes.writeUInt32LE(length, 0);
      reader.push(bytes);
      assert.throws(() => reader.advance(), MalformedFrame);
    });
  }

  it("keeps its frames apart in memory that is written on", () => {
    const writer = new FrameWriter();
    const taken: Buffer[] = [];
    for (let correlation = 0; correlation < 20_000; correlation += 1) {
      writer.cancel(correlation, named("an-order"));
      if (correlation % 3 === 0) taken.push(writer.take());
    }
    taken.push(writer.take());
    const reader = new FrameReader(maxAnswerBytes);
    reader.push(Buffer.concat(taken));
    for (let correlation = 0; correlation < 20_000; correlation += 1) {
      assert.ok(reader.advance());
      assert.equal(reader.bytes.readUInt32LE(reader.start + 8), correlation);
    }
  });
});
