import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { labels } from "../../api/names.ts";
import { operatorName } from "../../infra/platform/metadata.ts";
import { leases, pods } from "../../reconciler/kube/index.ts";
import { keepsPromise } from "../orders/check.ts";
import type { EngineRef } from "../support/engines.ts";
import { deletePrimaryPod, failoverScenario } from "../support/failoverScenario.ts";
import { isReady } from "../support/podState.ts";
import { waitFor } from "../support/waitFor.ts";
import { connectTestCluster, createTradingEngine, logTo, removeEngine, type TestCluster } from "./testCluster.ts";

describe("the daemon's second replica", () => {
  let cluster: TestCluster;
  let engine: EngineRef;
  before(async () => {
    cluster = await connectTestCluster();
    engine = await createTradingEngine(cluster, "test-daemon");
    await waitFor({
      what: "two replicas of the daemon",
      deadlineMs: 60_000,
      look: async () => (await daemonPods()).filter(isReady).map(({ metadata }) => metadata.name),
      until: (ready) => ready.length >= 2,
    });
  });
  after(async () => {
    await removeEngine(engine);
    await cluster.client.close();
  });

  async function daemonPods() {
    const labelSelector = `${labels.name}=${operatorName}`;
    return (await cluster.client.list(pods, { namespace: cluster.operatorNamespace, labelSelector })).items;
  }

  /** The daemon's identity is its pod's name. */
  async function leadingDaemon() {
    const lease = await cluster.client.get(leases, { namespace: cluster.operatorNamespace, name: operatorName });
    return (await daemonPods()).find(({ metadata }) => metadata.name === lease.spec?.holderIdentity);
  }

  it("fails over when the leading daemon and the primary die together", async (test) => {
    const leader = await leadingDaemon();
    assert.ok(leader !== undefined, "the holder of the daemon's Lease is one of its pods");
    const report = await failoverScenario({
      ...engine,
      image: cluster.image,
      log: logTo(test),
      kill: async (primary, client) => {
        const { namespace, name, uid } = leader.metadata;
        await client.delete(pods, { namespace, name }, { uid, gracePeriodSeconds: 0 });
        await deletePrimaryPod(primary, client);
      },
    });
    test.diagnostic(JSON.stringify(report));

    assert.ok(keepsPromise(report), report.violations.join("; "));
    assert.equal(report.unresolved, 0);
    assert.ok(report.replicasAgree);
    const next = await leadingDaemon();
    assert.notEqual(next?.metadata.uid, leader.metadata.uid);
    // The daemon's Lease must expire first (4 s), then the failover takes its own time.
    assert.ok(report.failoverGapMs < 15_000, `${report.failoverGapMs} ms`);
  });
});
