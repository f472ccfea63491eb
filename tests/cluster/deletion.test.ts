import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { childNames, finalizer } from "../../api/names.ts";
import { events, services } from "../../reconciler/kube/index.ts";
import {
  applyEngine,
  deleteEngine,
  type EngineRef,
  getEngine,
  tradingEngines,
  waitUntilSettled,
} from "../support/engines.ts";
import { waitFor } from "../support/waitFor.ts";
import { childVersions, replicaPods, volumeClaims } from "./children.ts";
import {
  connectTestCluster,
  createDeadlineMs,
  createTradingEngine,
  engineSpec,
  removeEngine,
  type TestCluster,
} from "./testCluster.ts";

const deleteDeadlineMs = 120_000;

describe("deletion of a TradingEngine", () => {
  let cluster: TestCluster;
  const created: EngineRef[] = [];
  before(async () => {
    cluster = await connectTestCluster();
  });
  after(async () => {
    for (const ref of created) await removeEngine(ref);
    await cluster.client.close();
  });

  async function create(name: string, volumes: "Retain" | "Delete"): Promise<EngineRef> {
    const ref = await createTradingEngine(cluster, name, { deletionPolicy: { volumes } });
    created.push(ref);
    return ref;
  }

  const noChildren = (ref: EngineRef) =>
    waitFor({
      what: `the children of ${ref.engine} to be gone`,
      deadlineMs: 30_000,
      look: async () => Object.keys(await childVersions(ref)),
      until: (children) => children.length === 0,
    });

  it("takes the replicas down first, then what they need, and keeps the volumes with Retain", async () => {
    const ref = await create("test-delete-retain", "Retain");
    const names = childNames(ref.engine);
    const claims = await volumeClaims(ref);
    assert.deepEqual(claims, [0, 1, 2].map(names.volume));
    assert.ok((await getEngine(ref)).metadata.finalizers?.includes(finalizer));

    await cluster.client.delete(tradingEngines, { namespace: ref.namespace, name: ref.engine });
    let serviceWentFirst = false;
    await waitFor({
      what: `the replicas of ${ref.engine} to be gone`,
      deadlineMs: deleteDeadlineMs,
      everyMs: 50,
      look: async () => {
        // Asked in this order: pods that are counted after the Service was seen gone were there without it.
        const service = await cluster.client.list(services, {
          namespace: ref.namespace,
          fieldSelector: `metadata.name=${names.replicasService}`,
        });
        const pods = (await replicaPods(ref)).length;
        serviceWentFirst ||= service.items.length === 0 && pods > 0;
        return pods;
      },
      until: (pods) => pods === 0,
    });
    assert.equal(serviceWentFirst, false, "the replicas need their names until they have handed over");
    await deleteEngine(ref, deleteDeadlineMs);
    await noChildren(ref);
    assert.deepEqual(await volumeClaims(ref), claims);
  });

  it("takes the volumes too with Delete", async () => {
    const ref = await create("test-delete-all", "Delete");
    assert.equal((await volumeClaims(ref)).length, 3);
    await deleteEngine(ref, deleteDeadlineMs);
    await noChildren(ref);
    await waitFor({
      what: "the volume claims to be gone",
      deadlineMs: 30_000,
      look: () => volumeClaims(ref),
      until: (claims) => claims.length === 0,
    });
  });

  it("trades on with the kept volumes when the engine is made again", async () => {
    const ref = await create("test-delete-again", "Retain");
    const before = (await getEngine(ref)).status?.epoch ?? 0;
    await deleteEngine(ref, deleteDeadlineMs);
    await noChildren(ref);
    const claims = await volumeClaims(ref);

    await applyEngine(ref, engineSpec(cluster));
    const { status } = await waitUntilSettled(ref, createDeadlineMs);
    assert.deepEqual(await volumeClaims(ref), claims);
    assert.ok((status?.epoch ?? 0) > before, `epoch ${status?.epoch} follows ${before}: the history goes on`);
  });

  it("tells of itself in Events", async () => {
    const { items } = await cluster.client.list(events, { namespace: cluster.namespace });
    const reasons = items
      .filter(({ regarding }) => regarding?.name === "test-delete-retain")
      .map(({ reason }) => reason);
    assert.ok(reasons.includes("PrimaryElected"), reasons.join(", "));
  });
});
