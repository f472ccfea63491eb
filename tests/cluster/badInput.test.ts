import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type ConditionReason, conditionReasons, type TradingEngineSpecInput } from "../../api/tradingEngine/index.ts";
import { ApiError } from "../../reconciler/kube/index.ts";
import {
  applyEngine,
  type EngineRef,
  getEngine,
  patchSpec,
  waitForEngine,
  waitUntilSettled,
} from "../support/engines.ts";
import { runOrderClient } from "../support/orderClientRun.ts";
import {
  connectTestCluster,
  createDeadlineMs,
  createEngine,
  createTradingEngine,
  engineSpec,
  leaderOf,
  removeEngine,
  type TestCluster,
} from "./testCluster.ts";

/** From the moment of the mistake to the condition that names it. */
const noticeDeadlineMs = 30_000;

describe("bad input", () => {
  let cluster: TestCluster;
  let neighbour: EngineRef;
  before(async () => {
    cluster = await connectTestCluster();
    neighbour = await createTradingEngine(cluster, "test-neighbour");
  });
  after(async () => {
    await removeEngine(neighbour);
    await cluster.client.close();
  });

  const refusals: { name: string; change: Record<string, unknown>; says: RegExp }[] = [
    { name: "a pair that is none", change: { tradingPair: "btcusdt" }, says: /tradingPair must be BASE\/QUOTE/ },
    { name: "too many replicas", change: { replicas: 9 }, says: /replicas must be from 1 to 7: use 3/ },
    { name: "an image without tag or digest", change: { image: "engine" }, says: /image must name a tag or/ },
    {
      name: "more copies than standbys",
      change: { failoverStrategy: { syncStandbys: 3 } },
      says: /syncStandbys must be less than replicas: raise replicas/,
    },
    {
      name: "a tick size of zero",
      change: { config: { tickSize: "0" } },
      says: /config.tickSize must be greater than zero/,
    },
  ];
  for (const { name, change, says } of refusals) {
    it(`the API server refuses ${name} and says what to do`, async () => {
      const ref = { ...neighbour, engine: "test-refused" };
      const spec: TradingEngineSpecInput = { ...engineSpec(cluster), ...change };
      await assert.rejects(applyEngine(ref, spec), (error) => {
        assert.ok(error instanceof ApiError && error.kind === "invalid", String(error));
        assert.match(error.message, says);
        return true;
      });
    });
  }

  it("the API server refuses another pair for an engine that exists", async () => {
    await assert.rejects(patchSpec(neighbour, { tradingPair: "ETH/USDT" }), /tradingPair cannot change/);
  });

  const mistakes: { name: string; engine: string; spec: Partial<TradingEngineSpecInput>; reason: ConditionReason }[] = [
    {
      name: "an image that does not exist",
      engine: "test-bad-image",
      spec: { image: "localhost/enginekeeper/does-not-exist:v0" },
      reason: "ImagePullFailed",
    },
    {
      name: "a storage class that does not exist",
      engine: "test-bad-class",
      spec: { storageClassName: "does-not-exist" },
      reason: "StorageClassNotFound",
    },
    {
      name: "a request larger than any node",
      engine: "test-bad-size",
      spec: { resources: { requests: { cpu: "1000" } } },
      reason: "Unschedulable",
    },
  ];
  for (const { name, engine, spec, reason } of mistakes) {
    it(`${name} is named in a condition, hurts nobody else, and is forgotten when corrected`, async () => {
      const before = await leaderOf(neighbour);
      const ref = await createEngine(cluster, engine, spec);
      const orders = await runOrderClient({ ...neighbour, image: cluster.image, ratePerSecond: 50 });
      try {
        const { acked } = await orders.summary();
        const noticed = await waitForEngine(ref, {
          what: `a condition with reason ${reason} (${conditionReasons[reason]})`,
          deadlineMs: noticeDeadlineMs,
          until: ({ status }) => status?.conditions?.some((condition) => condition.reason === reason) ?? false,
        });
        const condition = noticed.status?.conditions?.find((one) => one.reason === reason);
        assert.ok((condition?.message ?? "").length > 20, condition?.message);
        await orders.waitFor("the neighbour to trade on", 10_000, (summary) => summary.acked >= acked + 50);

        await applyEngine(ref, engineSpec(cluster));
        await waitUntilSettled(ref, createDeadlineMs);
        assert.deepEqual(await leaderOf(neighbour), before);
        assert.equal((await orders.stop()).unresolved, 0);
      } finally {
        await orders.close();
        await removeEngine(ref);
      }
    });
  }

  it("leaves no engine behind that was refused", async () => {
    await assert.rejects(getEngine({ ...neighbour, engine: "test-refused" }), { kind: "notFound" });
  });
});
