import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Refusal } from "../replica/refusal.ts";
import { type CallName, parseCall } from "./requestBodies.ts";

const identity = { clusterUid: "trading/btc-usdt", epoch: 4, opId: "op-1" };
const promote = {
  ...identity,
  minPosition: { epoch: 3, seq: 99 },
  members: ["te-1", "te-2"],
  k: 1,
  resume: "open",
};
const upstream = { instance: "te-0", replication: "te-0.te-replicas.trading.svc:7080", orders: "te-0:7000" };

describe("the body of a call", () => {
  it("is read for each call", () => {
    assert.deepEqual(parseCall("fence", identity), { name: "fence", args: identity });
    assert.deepEqual(parseCall("promote", promote), { name: "promote", args: promote });
    assert.deepEqual(parseCall("follow", { ...identity, upstream }), {
      name: "follow",
      args: {
        ...identity,
        upstream: { ...upstream, replication: { host: "te-0.te-replicas.trading.svc", port: 7080 } },
      },
    });
    assert.deepEqual(parseCall("demote", { ...identity, deadlineMs: 500 }).args, { ...identity, deadlineMs: 500 });
    const members = { ...identity, version: 2, members: [], k: 0 };
    assert.deepEqual(parseCall("members", members).args, members);
    assert.deepEqual(parseCall("drain", { ...identity, mode: "reject" }).args, { ...identity, mode: "reject" });
  });

  it("may hold more than this release knows", () => {
    assert.deepEqual(parseCall("fence", { ...identity, later: true }).args, identity);
  });

  const refused: readonly [CallName, unknown, RegExp][] = [
    ["fence", null, /the body must be a JSON object/],
    ["fence", [], /the body must be a JSON object/],
    ["fence", { ...identity, epoch: 0 }, /epoch must be an integer from 1 /],
    ["fence", { ...identity, epoch: 1.5 }, /epoch must be an integer/],
    ["fence", { ...identity, epoch: 2 ** 32 }, /epoch must be an integer from 1 to 4294967295/],
    ["fence", { ...identity, opId: "" }, /opId must be a string/],
    ["fence", { ...identity, opId: "x".repeat(513) }, /opId must be a string of 1 to 512/],
    ["promote", { ...promote, k: 3 }, /k must be an integer from 0 to 2/],
    ["promote", { ...promote, members: ["te-1", "te-1"] }, /members must be a list of different strings/],
    ["promote", { ...promote, minPosition: { epoch: 3 } }, /minPosition.seq must be an integer/],
    ["promote", { ...promote, resume: "later" }, /resume must be one of open, cancelOnly/],
    ["follow", identity, /upstream must be an object/],
    [
      "follow",
      { ...identity, upstream: { ...upstream, replication: "te-0" } },
      /upstream.replication must be host:port/,
    ],
    ["demote", { ...identity, deadlineMs: 0 }, /deadlineMs must be an integer from 1/],
    ["drain", { ...identity, mode: "now" }, /mode must be one of reject, cancelOnly/],
  ];
  for (const [name, body, message] of refused) {
    it(`of ${name} is refused: ${message.source}`, () => {
      assert.throws(
        () => parseCall(name, body),
        (error) => error instanceof Refusal && error.code === "BAD_REQUEST" && message.test(error.message),
      );
    });
  }
});
