import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import { keepsPromise } from "../orders/check.ts";
import type { EngineRef } from "../support/engines.ts";
import { type FailoverReport, type FailoverScenario, failoverScenario } from "../support/failoverScenario.ts";
import { killPrimaryProcess, losePrimary } from "../support/killProcess.ts";
import {
  connectTestCluster,
  createTradingEngine,
  embeddedLayout,
  logTo,
  removeEngine,
  type TestCluster,
} from "./testCluster.ts";

describe("failover under load", () => {
  let cluster: TestCluster;
  let engine: EngineRef;
  before(async () => {
    cluster = await connectTestCluster();
    engine = await createTradingEngine(cluster, "test-failover");
  });
  after(async () => {
    await removeEngine(engine);
    await cluster.client.close();
  });

  async function failOver(test: TestContext, options: Partial<FailoverScenario> = {}): Promise<FailoverReport> {
    const report = await failoverScenario({ ...engine, image: cluster.image, log: logTo(test), ...options });
    test.diagnostic(JSON.stringify(report));
    return report;
  }

  function assertPromiseKept(report: FailoverReport): void {
    assert.ok(keepsPromise(report), report.violations.join("; "));
    assert.equal(report.unresolved, 0);
    assert.equal(report.refused, 0);
    assert.ok(report.replicasAgree, "every replica has the same state");
  }

  it("loses no acknowledged order when the primary's pod is deleted", async (test) => {
    const report = await failOver(test);
    assertPromiseKept(report);
    assert.notEqual(report.primaryAfter, report.primaryBefore);
    assert.ok(report.epochAfter > report.epochBefore);
    assert.ok(report.failoverGapMs < 3000, `${report.failoverGapMs} ms`);
    assert.deepEqual([report.upReason, report.upResult], ["Failover", "succeeded"]);
    assert.notEqual(report.failoverPhases, null);
  });

  const layout = embeddedLayout(process.env);
  if (layout !== undefined) {
    it("loses no acknowledged order when the primary's process is killed and restarts in its pod", async (test) => {
      const report = await failOver(test, { kill: killPrimaryProcess(layout, engine.engine), seed: 3 });
      assertPromiseKept(report);
      assert.notEqual(report.primaryAfter, report.primaryBefore);
      assert.ok(report.failoverGapMs < 3000, `${report.failoverGapMs} ms`);
      assert.deepEqual([report.upReason, report.upResult], ["Failover", "succeeded"]);
    });

    it("loses no acknowledged order when process and pod are lost at once", async (test) => {
      const report = await failOver(test, { kill: losePrimary(layout, engine.engine), seed: 4 });
      assertPromiseKept(report);
      assert.notEqual(report.primaryAfter, report.primaryBefore);
      assert.ok(report.failoverGapMs < 3000, `${report.failoverGapMs} ms`);
    });
  }

  it("does so again from the repaired state, for clients that know only the Service", async (test) => {
    const report = await failOver(test, { via: "service", seed: 2 });
    assertPromiseKept(report);
    assert.notEqual(report.primaryAfter, report.primaryBefore);
    assert.deepEqual([report.upReason, report.upResult], ["Failover", "succeeded"]);
  });
});
