import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import { childNames } from "../../api/names.ts";
import type { TradingEngineSpecInput } from "../../api/tradingEngine/index.ts";
import { configMaps, statefulSets } from "../../reconciler/kube/index.ts";
import { keepsPromise } from "../orders/check.ts";
import { describeEngine, type EngineRef, getEngine, isSettled, patchSpec } from "../support/engines.ts";
import { type OrderClientRun, runOrderClient } from "../support/orderClientRun.ts";
import { isReady } from "../support/podState.ts";
import { waitFor } from "../support/waitFor.ts";
import { podUids, replicaPods } from "./children.ts";
import { connectTestCluster, createTradingEngine, leaderOf, removeEngine, type TestCluster } from "./testCluster.ts";

const rolloutDeadlineMs = 240_000;

describe("an edit of the spec while orders flow", () => {
  let cluster: TestCluster;
  let engine: EngineRef;
  before(async () => {
    cluster = await connectTestCluster();
    engine = await createTradingEngine(cluster, "test-edit");
  });
  after(async () => {
    await removeEngine(engine);
    await cluster.client.close();
  });

  /** Applies `change` and waits until no pod of before is left; answers the most replicas that were away at a time. */
  async function rollOut(change: Partial<TradingEngineSpecInput>): Promise<{ mostAway: number }> {
    const { epoch } = await leaderOf(engine);
    const old = new Set(await podUids(engine));
    // A replica that was ready once is back, also when it is catching up with a new primary for a moment.
    const standing = new Set(old);
    let mostAway = 0;
    await patchSpec(engine, change);
    await waitFor({
      what: "the edit to have reached every replica",
      deadlineMs: rolloutDeadlineMs,
      look: async () => {
        const pods = (await replicaPods(engine)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        for (const pod of pods.filter(isReady)) standing.add(pod.metadata.uid);
        mostAway = Math.max(mostAway, 3 - pods.filter(({ metadata }) => standing.has(metadata.uid)).length);
        const outdated = pods.filter(({ metadata }) => old.has(metadata.uid)).length;
        return { outdated, object: await getEngine(engine) };
      },
      until: ({ outdated, object }) => outdated === 0 && isSettled(object) && (object.status?.epoch ?? 0) > epoch,
      describe: ({ outdated, object }) => ({ outdated, engine: describeEngine(object) }),
    });
    return { mostAway };
  }

  async function whileOrdersFlow(test: TestContext, work: (orders: OrderClientRun) => Promise<void>): Promise<void> {
    const orders = await runOrderClient({ ...engine, image: cluster.image, ratePerSecond: 200 });
    try {
      await orders.waitFor("100 acknowledgements", 30_000, ({ acked }) => acked >= 100);
      await work(orders);
      const { acked } = await orders.summary();
      await orders.waitFor("orders to flow after the edit", 30_000, (summary) => summary.acked >= acked + 100);
      const final = await orders.stop();
      const report = await orders.check((await leaderOf(engine)).primary);
      test.diagnostic(`${report.acked} orders, longest pause ${final.longestGapMs} ms`);
      assert.ok(keepsPromise(report), report.violations.join("; "));
      assert.deepEqual([final.refused, final.unresolved], [0, 0]);
    } finally {
      await orders.close();
    }
  }

  it("carries new trading rules to every replica, one at a time, and loses no order", async (test) => {
    await whileOrdersFlow(test, async () => {
      const { mostAway } = await rollOut({ config: { tickSize: "0.005" } });
      assert.equal(mostAway, 1, "one replica is replaced at a time");
    });
    const { status } = await getEngine(engine);
    assert.ok(status !== undefined);
    assert.deepEqual([status.phase, status.lastUpdate?.result], ["Trading", "succeeded"]);
    const name = childNames(engine.engine).config;
    const config = await cluster.client.get(configMaps, { namespace: engine.namespace, name });
    assert.match(Object.values(config.data ?? {}).join(), /"tickSize": ?"0\.005"/);
  });

  it("carries new resources to every replica, one at a time, and loses no order", async (test) => {
    await whileOrdersFlow(test, async () => {
      const { mostAway } = await rollOut({ resources: { requests: { cpu: "60m" } } });
      assert.equal(mostAway, 1, "one replica is replaced at a time");
    });
    for (const { spec } of await replicaPods(engine)) {
      assert.equal(spec?.containers[0]?.resources?.requests?.["cpu"], "60m");
    }
    const set = await cluster.client.get(statefulSets, {
      namespace: engine.namespace,
      name: childNames(engine.engine).statefulSet,
    });
    const [container] = set.spec?.template.spec?.containers ?? [];
    assert.equal(container?.resources?.requests?.["cpu"], "60m");
  });
});
