/** Who leads is recorded in the stack's outputs after each change of primary, whichever daemon lives to do so. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { storageClasses } from "../../reconciler/kube/index.ts";
import { recordedEpoch } from "../../reconciler/shape/checkpoint.ts";
import { createStateStore } from "../../reconciler/shape/stateStore.ts";
import { tradingEngines } from "../../reconciler/tradingEngine/index.ts";
import {
  createEngine,
  namespace,
  type RunningLane,
  type ShapeCluster,
  startLane,
  startShapeCluster,
} from "./shapeCluster.ts";

describe("the epoch in the stack's outputs", { timeout: 300_000 }, () => {
  const engine = "led";
  let cluster: ShapeCluster;
  let running: RunningLane;
  let key: string;

  before(async () => {
    cluster = await startShapeCluster();
    await cluster.client.create(storageClasses, { metadata: { name: "fast" }, provisioner: "example.com/none" });
    running = await startLane(cluster);
    key = await createEngine(cluster, engine);
    await running.result(key, ({ result }) => result === "succeeded");
  });
  after(async () => {
    await running.stop();
    await cluster.stop();
  });

  /** What the role lane publishes after an election. */
  const elect = (epoch: number) =>
    cluster.client.patch(
      tradingEngines,
      { namespace, name: engine },
      { status: { epoch, primary: `${engine}-${epoch % 3}` } },
      { type: "merge", subresource: "status" },
    );

  const recorded = async (): Promise<number> =>
    recordedEpoch((await createStateStore(cluster.client).load(namespace, engine)).checkpoint);

  it("costs no run after the first election: nobody led before", async () => {
    const runs = running.results.length;
    await elect(1);
    await sleep(2_000);
    assert.equal(running.results.length, runs);
  });

  it("is brought up to date when the primary changes", async () => {
    const since = running.results.length;
    await elect(2);
    const result = await running.result(key, () => true, since);
    assert.deepEqual([result.reason, result.result], ["Failover", "succeeded"]);
    assert.equal(await recorded(), 2);
  });

  it("is brought up to date by the next daemon when one died between the election and its `up`", async () => {
    await running.stop();
    await elect(3);
    running = await startLane(cluster);
    const result = await running.result(key, ({ reason }) => reason === "Failover");
    assert.equal(result.result, "succeeded");
    assert.equal(await recorded(), 3);
  });

  it("costs no second run once it is recorded", async () => {
    const runs = running.results.length;
    running.lane.request(key, "Failover");
    await sleep(2_000);
    assert.equal(running.results.length, runs);
  });
});
