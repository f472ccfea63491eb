import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import {
  BadFrame,
  encodeAck,
  encodeMessage,
  encodePulse,
  encodeRecordsHead,
  type Frame,
  FrameReader,
  maxFrameBytes,
} from "./frames.ts";

const integer = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const frame: fc.Arbitrary<{ frame: Frame; bytes: Buffer }> = fc.oneof(
  fc.tuple(integer, integer).map(([committed, ping]) => ({
    frame: { type: "pulse" as const, committed, ping },
    bytes: encodePulse(committed, ping),
  })),
  fc.tuple(integer, integer).map(([durable, echo]) => ({
    frame: { type: "ack" as const, durable, echo },
    bytes: encodeAck(durable, echo),
  })),
  fc.tuple(integer, fc.uint8Array({ maxLength: 300 })).map(([committed, content]) => ({
    frame: { type: "records" as const, committed, bytes: Buffer.from(content) },
    bytes: Buffer.concat([encodeRecordsHead(committed, content.length), content]),
  })),
  fc.string().map((text) => ({
    frame: { type: "hello" as const, body: { text } },
    bytes: encodeMessage("hello", { text }),
  })),
);

describe("replication frames", () => {
  it("come out as they went in, however the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), fc.integer({ min: 1, max: 40 }), (frames, pieceBytes) => {
        const stream = Buffer.concat(frames.map(({ bytes }) => bytes));
        const reader = new FrameReader();
        const read: Frame[] = [];
        for (let at = 0; at < stream.length; at += pieceBytes)
          read.push(...reader.push(stream.subarray(at, at + pieceBytes)));
        assert.deepEqual(
          read,
          frames.map((each) => each.frame),
        );
      }),
    );
  });

  it("come out all at once when they arrive together", () => {
    const stream = Buffer.concat([
      encodePulse(1, 2),
      encodeAck(3, 4),
      encodeMessage("refused", { code: "NOT_PRIMARY" }),
    ]);
    assert.deepEqual(
      new FrameReader().push(stream).map(({ type }) => type),
      ["pulse", "ack", "refused"],
    );
  });

  const unusable: readonly [string, Buffer, RegExp][] = [
    ["an unknown type", Buffer.from([0, 0, 0, 0, 99]), /type 99/],
    ["a body that is too short", Buffer.from([2, 0, 0, 0, 5, 1, 1]), /too short/],
    ["a message that is not JSON", Buffer.from([1, 0, 0, 0, 1, 0x7b]), /not JSON/],
    ["an HTTP request", Buffer.from("GET / HTTP/1.1\r\n"), /bytes long/],
  ];
  for (const [what, bytes, message] of unusable) {
    it(`are refused: ${what}`, () => {
      assert.throws(
        () => new FrameReader().push(bytes),
        (error) => error instanceof BadFrame && message.test(error.message),
      );
    });
  }

  it("are refused before they are read when they would be too long", () => {
    const head = Buffer.alloc(5);
    head.writeUInt32LE(maxFrameBytes + 1);
    assert.throws(() => new FrameReader().push(head), BadFrame);
  });
});
