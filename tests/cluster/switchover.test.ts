import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { annotations, childNames } from "../../api/names.ts";
import { keepsPromise } from "../orders/check.ts";
import { annotateEngine, type EngineRef, getEngine, waitForEngine } from "../support/engines.ts";
import { runOrderClient } from "../support/orderClientRun.ts";
import { podUids } from "./children.ts";
import { connectTestCluster, createTradingEngine, leaderOf, removeEngine, type TestCluster } from "./testCluster.ts";

describe("planned switchover", () => {
  let cluster: TestCluster;
  let engine: EngineRef;
  before(async () => {
    cluster = await connectTestCluster();
    engine = await createTradingEngine(cluster, "test-switchover");
  });
  after(async () => {
    await removeEngine(engine);
    await cluster.client.close();
  });

  it("moves the primary where the annotation says, with no order lost or refused and no pod replaced", async (test) => {
    const { primary, epoch } = await leaderOf(engine);
    const target = [0, 1, 2].map(childNames(engine.engine).pod).find((name) => name !== primary) ?? "";
    const podsBefore = await podUids(engine);
    const orders = await runOrderClient({ ...engine, image: cluster.image });
    try {
      await orders.waitFor("200 acknowledgements", 30_000, ({ acked }) => acked >= 200);
      await annotateEngine(engine, { [annotations.switchoverTo]: target });
      await waitForEngine(engine, {
        what: `${target} to be primary`,
        deadlineMs: 30_000,
        until: ({ status }) => status?.primary === target && (status.epoch ?? 0) > epoch,
      });
      await orders.waitFor("200 acknowledgements by the new primary", 30_000, ({ epochs }) =>
        epochs.some((tally) => tally.epoch > epoch && tally.acks >= 200),
      );
      const final = await orders.stop();
      const report = await orders.check(target);
      test.diagnostic(`${report.acked} orders, longest pause at a change of epoch ${report.failoverGapMs ?? 0} ms`);

      assert.ok(keepsPromise(report), report.violations.join("; "));
      assert.deepEqual([final.refused, final.unresolved], [0, 0]);
      assert.ok((report.failoverGapMs ?? Number.NaN) < 2000, `${report.failoverGapMs} ms`);
      assert.deepEqual(await podUids(engine), podsBefore);
    } finally {
      await orders.close();
    }
  });

  it("takes the annotation away once it is done", async () => {
    const done = await waitForEngine(engine, {
      what: "the annotation to be gone",
      deadlineMs: 30_000,
      until: ({ metadata }) => metadata.annotations?.[annotations.switchoverTo] === undefined,
    });
    assert.equal(done.status?.lastFailover?.reason, "Requested");
  });

  it("does not follow a request for a replica that does not exist", async () => {
    const before = await leaderOf(engine);
    await annotateEngine(engine, { [annotations.switchoverTo]: "nobody" });
    await waitForEngine(engine, {
      what: "the request to be answered",
      deadlineMs: 30_000,
      until: ({ metadata }) => metadata.annotations?.[annotations.switchoverTo] === undefined,
    });
    assert.deepEqual(await leaderOf(engine), before);
    assert.equal((await getEngine(engine)).status?.phase, "Trading");
  });
});
