import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { keepsPromise } from "../orders/check.ts";
import { failoverScenario } from "./failoverScenario.ts";
import { type Script, ScriptedCluster } from "./scriptedCluster.ts";

const script: Script = { electAfterMs: 150, repairAfterMs: 500 };

async function play(test: TestContext, changes: Partial<Script> = {}) {
  const cluster = await ScriptedCluster.start({ ...script, ...changes });
  test.after(() => cluster.stop());
  const steps: string[] = [];
  const report = await failoverScenario({
    client: cluster.client,
    namespace: "trading",
    engine: "e",
    image: "engine:1",
    acks: 50,
    log: (message) => steps.push(message),
  });
  return { cluster, report, steps };
}

describe("failoverScenario", () => {
  it("reports what the failover came to", async (test) => {
    const { report } = await play(test);
    assert.ok(keepsPromise(report), report.violations.join("; "));
    assert.ok(report.acked >= 100);
    assert.deepEqual([report.primaryBefore, report.primaryAfter], ["e-0", "e-1"]);
    assert.deepEqual([report.epochBefore, report.epochAfter], [1, 2]);
    assert.ok(report.failoverGapMs >= script.electAfterMs * 0.9, `${report.failoverGapMs} ms`);
    assert.ok(report.repairSeconds * 1000 >= script.repairAfterMs * 0.9, `${report.repairSeconds} s`);
    assert.deepEqual([report.upReason, report.upResult, report.upSeconds], ["Failover", "succeeded", 1.2]);
    assert.deepEqual([report.unresolved, report.refused], [0, 0]);
    assert.equal(report.replicasAgree, true);
  });

  it("tells each step and leaves no pod of its own behind", async (test) => {
    const { cluster, steps } = await play(test);
    assert.match(steps[0] ?? "", /^orders flow from pod e-orders-/);
    assert.deepEqual(steps.slice(1, 4), [
      "killed the primary e-0 (epoch 1)",
      "e-1 is primary in epoch 2",
      "every replica is Ready again; the daemon ran `up` (Failover, succeeded)",
    ]);
    assert.match(steps[4] ?? "", /^checked \d+ acknowledged orders: 0 lost, 0 acknowledged twice$/);
    assert.deepEqual(cluster.podNames, ["e-0", "e-1", "e-2"]);
  });

  it("sees replicas that diverged", async (test) => {
    const { report } = await play(test, { diverged: ["e-2"] });
    assert.equal(report.replicasAgree, false);
  });
});
