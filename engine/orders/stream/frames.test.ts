import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { type Answer, FrameReader, readAnswer, readRequest } from "./frameReader.ts";
import { FrameWriter } from "./frameWriter.ts";
import {
  MalformedFrame,
  maxAnswerBytes,
  maxRequestBytes,
  orderStatuses,
  orderTypes,
  problemCodes,
  sides,
} from "./protocol.ts";

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
const fills = fc.array(fc.record({ price: count, quantity: count }, { noNullPrototype: true }), { maxLength: 20 });

describe("an order frame", () => {
  it("says what was written into it", () => {
    const order = fc.record(
      {
        clientId,
        side: fc.constantFrom(...sides),
        type: fc.constantFrom(...orderTypes),
        price: count,
        quantity: count,
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(u32, order, (correlation, expected) => {
        const bytes = encoded((writer) => writer.place(correlation, expected));
        assert.deepEqual(requestOf(bytes), { type: "place", correlation, order: expected });
      }),
    );
  });

  it("has the layout of the documentation", () => {
    const order = { clientId: "one", side: "sell", type: "limit", price: 0x1_0000_0002, quantity: 3 } as const;
    const bytes = encoded((writer) => writer.place(7, order));
    assert.equal(
      bytes.toString("hex"),
      // length, type, side, order type, -, correlation, -, id length, -, price, -, quantity, -, id
      "33000000" +
        "01010000" +
        "07000000" +
        "00000300" +
        "0200000001000000" +
        "0".repeat(16) +
        "0300000000000000" +
        "0".repeat(16) +
        "6f6e65",
    );
  });

  const invalid: readonly [string, (bytes: Buffer) => unknown, string][] = [
    ["an unknown side", (bytes) => bytes.writeUInt8(2, 5), "BAD_SIDE"],
    ["an unknown type", (bytes) => bytes.writeUInt8(200, 6), "BAD_TYPE"],
    ["a price beyond exact numbers", (bytes) => bytes.writeUInt8(1, 16 + 7), "BAD_PRICE"],
    ["a quantity beyond exact numbers", (bytes) => bytes.writeUInt8(1, 32 + 7), "BAD_QUANTITY"],
  ];
  for (const [what, spoil, code] of invalid) {
    it(`is invalid, not malformed, with ${what}`, () => {
      const order = { clientId: "one", side: "buy", type: "limit", price: 1, quantity: 1 } as const;
      const bytes = encoded((writer) => writer.place(7, order));
      spoil(bytes);
      assert.deepEqual(requestOf(bytes), { type: "invalid", correlation: 7, code });
    });
  }
});

describe("other requests", () => {
  it("name the order by its client id", () => {
    assert.deepEqual(requestOf(encoded((writer) => writer.cancel(1, "one"))), {
      type: "cancel",
      correlation: 1,
      clientId: "one",
    });
    assert.deepEqual(requestOf(encoded((writer) => writer.find(2, "two"))), {
      type: "find",
      correlation: 2,
      clientId: "two",
    });
  });

  it("that only say something are short", () => {
    assert.deepEqual(requestOf(encoded((writer) => writer.heartbeat())), { type: "heartbeat" });
    assert.deepEqual(requestOf(encoded((writer) => writer.leave())), { type: "goodbye" });
  });

  const cancel = encoded((writer) => writer.cancel(1, "one"));
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
  it("says what became of an order", () => {
    const status = fc.constantFrom(...orderStatuses);
    const frame = fc.record(
      {
        status,
        duplicate: fc.boolean(),
        epoch: u32,
        seq: count,
        filled: count,
        fills,
        increments,
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(u32, frame, (correlation, expected) => {
        const bytes = encoded((writer) => writer.placed(correlation, expected));
        assert.deepEqual(answerOf(bytes), { type: "placed", correlation, frame: expected });
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
    const frame = { status: "filled", duplicate: false, epoch: 1, seq: 1, filled: 1, increments: null } as const;
    const bytes = encoded((writer) => writer.placed(1, { ...frame, fills: [{ price: 1, quantity: 1 }] }));
    bytes.writeUInt32LE(2, 32);
    assert.throws(() => answerOf(bytes), MalformedFrame);
  });
});

describe("a stream of frames", () => {
  it("is cut at the frames, wherever the network cuts it", () => {
    const bytes = encoded((writer) => {
      for (let count = 0; count < 5; count += 1) writer.cancel(count, `order-${"x".repeat(count * 7)}`);
    });
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 8 }), (cuts) => {
        const reader = new FrameReader(maxRequestBytes);
        const seen: unknown[] = [];
        const ends = [...cuts.sort((a, b) => a - b), bytes.length];
        for (const [index, end] of ends.entries()) {
          reader.push(bytes.subarray(ends[index - 1] ?? 0, end));
          while (reader.advance()) seen.push(readRequest(reader.bytes, reader.start, reader.end));
        }
        assert.deepEqual(
          seen.map((request) => (request as { correlation: number }).correlation),
          [0, 1, 2, 3, 4],
        );
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
      writer.cancel(correlation, "an-order");
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
