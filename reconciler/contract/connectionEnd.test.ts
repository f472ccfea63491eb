import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connectionEndOf } from "./connectionEnd.ts";
import { podAddress } from "./engineAddress.ts";
import { createLineSplitter } from "./lineSplitter.ts";

const coded = (code: string): Error => Object.assign(new Error(code), { code });

describe("why a connection ended", () => {
  const table: readonly [unknown, string][] = [
    [coded("ECONNREFUSED"), "refused"],
    [coded("ECONNRESET"), "reset"],
    [coded("UND_ERR_SOCKET"), "reset"],
    [coded("UND_ERR_BODY_TIMEOUT"), "timeout"],
    [coded("UND_ERR_CONNECT_TIMEOUT"), "timeout"],
    [coded("EHOSTUNREACH"), "unreachable"],
    [new DOMException("late", "TimeoutError"), "timeout"],
    [new Error("wrapped", { cause: coded("ECONNREFUSED") }), "refused"],
    [new Error("of no known kind"), "unreachable"],
    ["not even an error", "unreachable"],
  ];
  for (const [error, end] of table) it(`${String(error)}: ${end}`, () => assert.equal(connectionEndOf(error), end));
});

describe("the address of a pod", () => {
  it("has the fixed ports, and brackets around an IPv6 address", () => {
    assert.deepEqual(podAddress({ name: "te-0", ip: "10.0.0.1" }), {
      control: "10.0.0.1:7070",
      replication: "10.0.0.1:7080",
      orders: "10.0.0.1:7000",
    });
    assert.equal(podAddress({ name: "te-0", ip: "fd00::1" }).control, "[fd00::1]:7070");
  });
});

describe("cutting a stream into lines", () => {
  it("keeps what is not complete, also in the middle of a character", () => {
    const split = createLineSplitter();
    const bytes = new TextEncoder().encode('{"a":"é"}\n\n{"b":1}\n{"c"');
    const cut = bytes.indexOf(0xc3) + 1;
    assert.deepEqual(split(bytes.subarray(0, cut)), []);
    assert.deepEqual(split(bytes.subarray(cut)), ['{"a":"é"}', '{"b":1}']);
    assert.deepEqual(split(new TextEncoder().encode(":2}\n")), ['{"c":2}']);
  });

  it("refuses a line without end", () => {
    const split = createLineSplitter();
    assert.throws(() => split(new Uint8Array(2 << 20).fill(65)), /exceeds/);
  });
});
