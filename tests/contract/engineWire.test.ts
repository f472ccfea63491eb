import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import {
  demoteAnswer,
  engineStatus,
  fenceAnswer,
  followAnswer,
  journalLine,
  problem,
  promoteAnswer,
  streamLine,
} from "../../api/contract/v1.ts";
import { type EngineClient, testToken, written } from "../../engine/testing/engineClient.ts";
import { startEngine, startTrio } from "../../engine/testing/testEngine.ts";

/**
 * The engine and the reconciler have types of their own for what travels between them. Here the
 * reconciler's schemas read what the reference engine says; zod ignores what they do not know.
 */
const authorization = { authorization: `Bearer ${testToken}` };

const lines = async (engine: EngineClient, path: string, forMs: number): Promise<unknown[]> => {
  const abort = new AbortController();
  const response = await fetch(`http://${written(engine.addresses.control)}${path}`, {
    headers: authorization,
    signal: abort.signal,
  });
  const chunks: string[] = [];
  const reading = (async () => {
    for await (const chunk of response.body ?? []) chunks.push(Buffer.from(chunk).toString("utf8"));
  })();
  await Promise.race([reading, sleep(forMs)]);
  abort.abort();
  await reading.catch(() => undefined);
  const whole = chunks.join("").split("\n").slice(0, -1);
  return whole.map((line) => JSON.parse(line) as unknown);
};

describe("what the reference engine says is what the reconciler reads", () => {
  it("in the status of a primary, of its standbys and of a blank replica", async (test: TestContext) => {
    const [primary, standby] = await startTrio(test);
    const blank = await startEngine(test, "te-9");
    const leading = engineStatus.parse((await primary.get("/v1/status")).body);
    assert.equal(leading.role, "primary");
    assert.equal(leading.sync?.members.length, 2);
    const following = engineStatus.parse((await standby.get("/v1/status")).body);
    assert.equal(following.upstream?.instance, "te-0");
    assert.equal(engineStatus.parse((await blank.get("/v1/status")).body).blank, true);
  });

  it("in the status stream, status first", async (test: TestContext) => {
    const [primary] = await startTrio(test);
    const read = (await lines(primary, "/v1/status/stream?heartbeatMs=20", 200)).map((line) => streamLine.parse(line));
    assert.equal(read[0]?.type, "status");
    assert.ok(read.some(({ type }) => type === "heartbeat"));
  });

  it("in the answers to fence, promote, follow and demote", async (test: TestContext) => {
    const [old, next] = await startTrio(test);
    const { final } = demoteAnswer.parse((await old.call("POST", "/v1/demote", 1, { deadlineMs: 2_000 })).body);
    const fence = fenceAnswer.parse((await next.fence(2)).body);
    assert.equal(fence.promised, 2);
    const minPosition = fence.durable.seq < final.seq ? fence.durable : final;
    const promoted = promoteAnswer.parse((await next.promote(2, ["te-0", "te-2"], { minPosition })).body);
    assert.equal(promoted.epoch, 2);
    const followed = followAnswer.parse((await old.follow(2, next)).body);
    assert.deepEqual(followed, { instance: "te-0", epoch: 2, durable: final });
  });

  it("in a refusal", async (test: TestContext) => {
    const engine = await startEngine(test, "te-0");
    await engine.fence(3);
    const refusal = problem.parse((await engine.fence(2)).body);
    assert.deepEqual([refusal.code, refusal.status, refusal.promised], ["STALE_EPOCH", 409, 3]);
    const missing = problem.parse((await engine.get("/v1/nothing")).body);
    assert.equal(missing.code, "NOT_FOUND");
  });

  it("in the journal", async (test: TestContext) => {
    const [primary] = await startTrio(test);
    const { body } = await primary.bid("one");
    const read = (await lines(primary, "/v1/journal?fromSeq=1", 2_000)).map((line) => journalLine.parse(line));
    assert.deepEqual(
      read.map(({ seq, type }) => [seq, type]),
      [
        [1, "epochStart"],
        [2, "order"],
      ],
    );
    assert.deepEqual([read[1]?.clientId, read[1]?.orderId], ["one", body["orderId"]]);
  });
});
