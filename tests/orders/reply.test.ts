import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Reply, readReply } from "./reply.ts";

const ack = { epoch: 3, seq: 17, orderId: "o-17", clientId: "c-1", status: "resting", trades: [], duplicate: false };

describe("readReply", () => {
  const cases: { name: string; status: number; body: unknown; expected: Reply }[] = [
    {
      name: "200 is an acknowledgement",
      status: 200,
      body: ack,
      expected: { kind: "acked", ack: { epoch: 3, seq: 17, orderId: "o-17", duplicate: false } },
    },
    {
      name: "200 with duplicate repeats an earlier acknowledgement",
      status: 200,
      body: { ...ack, duplicate: true },
      expected: { kind: "acked", ack: { epoch: 3, seq: 17, orderId: "o-17", duplicate: true } },
    },
    {
      name: "421 names the leader",
      status: 421,
      body: { code: "NOT_PRIMARY", leader: { instance: "e-1", orders: "e-1.svc:7000" } },
      expected: { kind: "redirected", leader: "e-1.svc:7000" },
    },
    {
      name: "421 without a leader",
      status: 421,
      body: { code: "NOT_PRIMARY", leader: null },
      expected: { kind: "redirected", leader: null },
    },
    {
      name: "503 was refused before sequencing: send again",
      status: 503,
      body: { code: "CANNOT_COMMIT" },
      expected: { kind: "unresolved", reason: "503 CANNOT_COMMIT" },
    },
    {
      name: "504 is unknown: send again",
      status: 504,
      body: { code: "UNKNOWN" },
      expected: { kind: "unresolved", reason: "504 UNKNOWN" },
    },
    { name: "502 of a proxy", status: 502, body: "<html>", expected: { kind: "unresolved", reason: "502" } },
    { name: "429 of a proxy", status: 429, body: "", expected: { kind: "unresolved", reason: "429" } },
  ];
  for (const { name, status, body, expected } of cases) {
    it(name, () => {
      assert.deepEqual(readReply(status, typeof body === "string" ? body : JSON.stringify(body)), expected);
    });
  }

  const refusals = [
    {
      name: "a client id used for another order",
      status: 409,
      body: { code: "CLIENT_ID_REUSED" },
      says: /409 CLIENT_ID/,
    },
    { name: "bad input", status: 400, body: { code: "BAD_PRICE" }, says: /400 BAD_PRICE/ },
    { name: "an acknowledgement without a position", status: 200, body: { orderId: "o" }, says: /without epoch, seq/ },
    { name: "a fractional sequence number", status: 200, body: { ...ack, seq: 1.5 }, says: /without epoch, seq/ },
  ];
  for (const { name, status, body, says } of refusals) {
    it(`${name} is refused, not retried`, () => {
      const reply = readReply(status, JSON.stringify(body));
      assert.ok(reply.kind === "refused", reply.kind);
      assert.match(reply.reason, says);
    });
  }
});
