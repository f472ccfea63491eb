import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { childNames } from "../../api/names.ts";
import { services } from "../../reconciler/kube/index.ts";
import { type EngineRef, getEngine, waitForEngine } from "../support/engines.ts";
import { waitFor } from "../support/waitFor.ts";
import { connectTestCluster, createTradingEngine, leaderOf, removeEngine, type TestCluster } from "./testCluster.ts";

const repairDeadlineMs = 60_000;

describe("drift", () => {
  let cluster: TestCluster;
  let engine: EngineRef;
  before(async () => {
    cluster = await connectTestCluster();
    engine = await createTradingEngine(cluster, "test-drift");
  });
  after(async () => {
    await removeEngine(engine);
    await cluster.client.close();
  });

  const lastUpdateTime = async () => (await getEngine(engine)).status?.lastUpdate?.time;

  const waitForDriftUpdate = (before: string | undefined) =>
    waitForEngine(engine, {
      what: "an `up` because of drift",
      deadlineMs: repairDeadlineMs,
      until: ({ status }) => status?.lastUpdate?.reason === "Drift" && status.lastUpdate.time !== before,
    });

  const names = childNames("test-drift");
  for (const name of [names.primaryService, names.standbyService]) {
    it(`brings the Service ${name} back by an \`up\` when somebody deletes it`, async () => {
      const ref = { namespace: engine.namespace, name };
      const before = await cluster.client.get(services, ref);
      const leader = await leaderOf(engine);
      const updateBefore = await lastUpdateTime();

      await cluster.client.delete(services, ref);
      const again = await waitFor({
        what: `${name} to be back`,
        deadlineMs: repairDeadlineMs,
        look: () => cluster.client.get(services, ref),
        until: ({ metadata }) => metadata.uid !== before.metadata.uid,
      });
      const { status } = await waitForDriftUpdate(updateBefore);

      assert.deepEqual(again.spec?.selector, before.spec?.selector);
      assert.equal(status?.lastUpdate?.result, "succeeded");
      assert.deepEqual(await leaderOf(engine), leader, "the primary has nothing to do with it");
    });
  }

  it("takes back a hand-made change of a field that the component owns", async () => {
    const ref = { namespace: engine.namespace, name: names.standbyService };
    const before = await cluster.client.get(services, ref);
    const updateBefore = await lastUpdateTime();
    const change = { spec: { selector: { ...before.spec?.selector, "enginekeeper.dev/role": "nobody" } } };
    await cluster.client.patch(services, ref, change, { type: "merge", manager: "a-person" });

    await waitForDriftUpdate(updateBefore);
    const after = await cluster.client.get(services, ref);
    assert.deepEqual(after.spec?.selector, before.spec?.selector);
  });
});
