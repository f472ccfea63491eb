import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { describeRefusal, type Hello, parseHello, parseWelcome } from "./handshake.ts";

const hello: Hello = {
  token: "secret",
  clusterUid: "trading/btc-usdt",
  instance: "btc-usdt-1",
  epoch: 2,
  promised: 2,
  history: { entries: [{ epoch: 1, startSeq: 1, instance: "btc-usdt-0" }], end: 40 },
};

describe("a hello", () => {
  it("is read as it was sent", () => {
    assert.deepEqual(parseHello(JSON.parse(JSON.stringify(hello))), hello);
  });

  const broken: readonly [string, unknown][] = [
    ["nothing", null],
    ["a list", []],
    ["no token", { ...hello, token: undefined }],
    ["a negative epoch", { ...hello, epoch: -1 }],
    ["a promise that is no number", { ...hello, promised: "2" }],
    ["no history", { ...hello, history: undefined }],
    ["an end that is not exact", { ...hello, history: { ...hello.history, end: 2 ** 60 } }],
    ["an epoch without a start", { ...hello, history: { end: 1, entries: [{ epoch: 1, instance: "x" }] } }],
  ];
  for (const [what, body] of broken) {
    it(`is none with ${what}`, () => assert.equal(parseHello(body), null));
  }
});

describe("a welcome", () => {
  it("is read as it was sent", () => {
    const welcome = { instance: "btc-usdt-0", epoch: 2, commonEnd: 39 };
    assert.deepEqual(parseWelcome(welcome), welcome);
  });

  it("is none without a common end", () => {
    assert.equal(parseWelcome({ instance: "btc-usdt-0", epoch: 2 }), null);
  });
});

describe("a refusal", () => {
  it("is told to people as far as it can be read", () => {
    assert.equal(
      describeRefusal({ code: "NOT_PRIMARY", detail: "this replica is standby" }),
      "NOT_PRIMARY: this replica is standby",
    );
    assert.equal(describeRefusal("?"), "undefined: undefined");
  });
});
