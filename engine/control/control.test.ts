import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type EngineClient, testCluster, testToken, written } from "../testing/engineClient.ts";
import { startAlone, startEngine, startTrio } from "../testing/testEngine.ts";
import type { EngineStatus } from "./status.ts";

type Line =
  | { readonly type: "status"; readonly status: EngineStatus }
  | { readonly type: "heartbeat"; readonly committed: number; readonly upstreamConnected: boolean };

/** Reads the status stream while `during` runs, and answers its lines. */
const watch = async (engine: EngineClient, during: () => Promise<unknown>): Promise<Line[]> => {
  const abort = new AbortController();
  const url = `http://${written(engine.addresses.control)}/v1/status/stream?heartbeatMs=20`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${testToken}` }, signal: abort.signal });
  const chunks: string[] = [];
  const reading = (async () => {
    for await (const chunk of response.body ?? []) chunks.push(Buffer.from(chunk).toString("utf8"));
  })();
  await during();
  abort.abort();
  await reading.catch(() => undefined);
  const whole = chunks.join("").split("\n").slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Line);
};

describe("who may call", () => {
  it("is decided by the token, except for probes and metrics", async (test) => {
    const engine = await startEngine(test, "te-0");
    const base = `http://${written(engine.addresses.control)}`;
    for (const path of ["/v1/status", "/v1/status/stream", "/v1/journal", "/v1/nothing"]) {
      const response = await fetch(base + path);
      assert.equal(response.status, 401, path);
      assert.equal(((await response.json()) as { code: string }).code, "UNAUTHORIZED");
    }
    for (const path of ["/livez", "/startupz", "/metrics"]) assert.equal((await fetch(base + path)).status, 200, path);
    for (const path of ["/readyz", "/v1/primary", "/v1/standby"]) {
      assert.equal((await fetch(base + path)).status, 503, path);
    }
  });
});

describe("a call", () => {
  it("is answered the same when it comes again with its operation id", async (test) => {
    const engine = await startEngine(test, "te-0");
    const first = await engine.promote(1, [], { k: 0, opId: "once" });
    assert.equal(first.status, 200);
    assert.deepEqual(await engine.promote(1, [], { k: 0, opId: "once" }), first);
    const other = await engine.promote(1, [], { k: 0, opId: "twice" });
    assert.equal(other.body["code"], "WRONG_STATE");
  });

  it("is refused with a stable code and a reason", async (test) => {
    const engine = await startEngine(test, "te-0");
    await engine.fence(5);
    const stale = await engine.fence(4);
    assert.deepEqual([stale.status, stale.body["code"], stale.body["promised"]], [409, "STALE_EPOCH", 5]);
    const behind = await engine.promote(6, [], { k: 0, minPosition: { epoch: 1, seq: 9 } });
    assert.deepEqual([behind.status, behind.body["code"]], [412, "BEHIND"]);
    const foreign = await engine.fence(7, { clusterUid: "trading/eth-usdt" });
    assert.deepEqual([foreign.status, foreign.body["code"]], [409, "WRONG_CLUSTER"]);
    const incomplete = await engine.call("POST", "/v1/demote", 7);
    assert.deepEqual([incomplete.status, incomplete.body["code"]], [400, "BAD_REQUEST"]);
    assert.match(String(incomplete.body["detail"]), /deadlineMs must be an integer/);
    const unknown = await engine.get("/v1/nothing");
    assert.deepEqual([unknown.status, unknown.body["code"]], [404, "NOT_FOUND"]);
    const status = await engine.status();
    assert.equal(status.epoch.promised, 6, "only the calls that passed the checks had an effect");
  });

  it("limits what a primary takes in, and undoes it", async (test) => {
    const engine = await startAlone(test);
    assert.equal((await engine.call("POST", "/v1/drain", 1, { mode: "reject" })).status, 200);
    assert.equal((await engine.bid("one")).body["code"], "CANNOT_COMMIT");
    assert.equal((await engine.get("/readyz")).status, 503);
    await engine.call("DELETE", "/v1/drain", 1);
    assert.equal((await engine.bid("one")).status, 200);
    await engine.call("POST", "/v1/drain", 1, { mode: "cancelOnly" });
    assert.equal((await engine.bid("two")).body["code"], "CANCEL_ONLY");
    assert.equal((await engine.cancel("one")).status, 200);
  });
});

describe("status", () => {
  it("describes a blank replica", async (test) => {
    const engine = await startEngine(test, "te-0");
    const status = await engine.status();
    assert.equal(status.role, "standby");
    assert.equal(status.blank, true);
    assert.equal(status.clusterUid, testCluster);
    assert.deepEqual(status.durable, { epoch: 0, seq: 0 });
    assert.equal(status.readyReason, "not told whom to follow");
    assert.ok(status.diskFreeBytes > 0);
    assert.deepEqual([status.sync, status.upstream], [null, null]);
  });

  it("describes a primary and its standbys", async (test) => {
    const [primary, second, third] = await startTrio(test);
    await primary.bid("one");
    const status = await primary.until("showing the order", ({ watermarks }) => watermarks.applied === 2);
    assert.equal(status.role, "primary");
    assert.deepEqual(status.epoch, { current: 1, promised: 1, startSeq: 1 });
    assert.deepEqual(status.watermarks, { received: 2, durable: 2, committed: 2, applied: 2 });
    assert.equal(status.sync?.satisfied, true);
    assert.deepEqual(
      status.sync.members.map(({ instance }) => instance),
      ["te-1", "te-2"],
    );
    for (const standby of [second, third]) {
      const { upstream, ready } = await standby.until("caught up", ({ watermarks }) => watermarks.applied === 2);
      assert.equal(ready, true);
      assert.ok(upstream !== null && upstream.lastHeardMs !== null && upstream.lastHeardMs < 1_000);
      assert.deepEqual([upstream.instance, upstream.epoch, upstream.connected], ["te-0", 1, true]);
    }
    assert.equal((await primary.get("/v1/primary")).status, 200);
    assert.equal((await second.get("/v1/standby?maxLagRecords=0&maxLagMs=1000")).status, 200);
    assert.equal((await second.get("/v1/primary")).status, 503);
  });

  it("shows that a primary has lost its standbys", async (test) => {
    const [primary, second, third] = await startTrio(test);
    await second.fence(2);
    await third.fence(2);
    const status = await primary.until("unsatisfied", ({ sync }) => sync?.satisfied === false);
    assert.equal(status.role, "primary");
    assert.equal(status.ready, false);
    assert.equal((await primary.get("/v1/primary")).status, 503);
    assert.equal((await primary.bid("one")).body["code"], "CANNOT_COMMIT");
  });
});

describe("the status stream", () => {
  it("begins with a full status and beats between changes", async (test) => {
    const engine = await startAlone(test);
    const [first, ...rest] = await watch(engine, () => sleep(300));
    assert.equal(first?.type, "status");
    assert.ok(rest.filter(({ type }) => type === "heartbeat").length >= 3);
  });

  it("tells changes at once and in full, and not every order", async (test) => {
    const engine = await startAlone(test);
    const lines = await watch(engine, async () => {
      for (let count = 0; count < 10; count += 1) await engine.bid(`order-${count}`);
      await engine.fence(2);
      await sleep(100);
    });
    const statuses = lines.flatMap((line) => (line.type === "status" ? [line.status] : []));
    assert.equal(statuses.at(-1)?.role, "fenced");
    assert.equal(statuses.at(-1)?.epoch.promised, 2);
    assert.ok(statuses.length <= 4, `${statuses.length} full statuses`);
  });

  it("tells a standby's reader that the primary is gone", async (test) => {
    const [primary, second] = await startTrio(test);
    const lines = await watch(second, async () => {
      await primary.fence(2);
      await second.until("cut off", ({ upstream }) => upstream?.connected === false);
      await sleep(50);
    });
    const last = lines.findLast((line) => line.type === "status");
    assert.ok(last?.type === "status");
    assert.equal(last.status.upstream?.connected, false);
  });
});

describe("the journal over HTTP", () => {
  it("shows each order once, in order, from where it is asked", async (test) => {
    const engine = await startAlone(test);
    for (const clientId of ["one", "two", "three"]) await engine.bid(clientId);
    await engine.cancel("two");
    const lines = await engine.journal();
    assert.deepEqual(
      lines.map(({ seq, type, clientId }) => [seq, type, clientId]),
      [
        [1, "epochStart", undefined],
        [2, "order", "one"],
        [3, "order", "two"],
        [4, "order", "three"],
        [5, "cancel", "two"],
      ],
    );
  });
});

describe("the hash over HTTP", () => {
  it("is the same on primary and standby at the same record", async (test) => {
    const [primary, second] = await startTrio(test);
    for (const clientId of ["one", "two"]) await primary.bid(clientId);
    const [a, b] = [await primary.get("/v1/hash?seq=2"), await second.get("/v1/hash?seq=2")];
    assert.equal(a.status, 200);
    assert.deepEqual(a, b);
    assert.equal((await primary.get("/v1/hash?seq=0")).status, 400);
  });
});

describe("metrics", () => {
  it("tell role, epoch, orders and latencies", async (test) => {
    const engine = await startAlone(test);
    await engine.bid("one");
    const response = await fetch(`http://${written(engine.addresses.control)}/metrics`);
    const text = await response.text();
    for (const line of [
      'engine_role{role="primary"} 1',
      'engine_epoch{kind="current"} 1',
      'engine_orders_total{type="limit",result="resting"} 1',
      'engine_seq{watermark="committed"} 2',
      "engine_match_latency_seconds_count 2",
      "engine_sync_satisfied 1",
    ]) {
      assert.ok(text.split("\n").includes(line), `${line} in\n${text}`);
    }
  });
});
