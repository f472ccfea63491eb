import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  countDaemonWrites,
  countWrites,
  engineResources,
  type WriteCounts,
  writesBetween,
} from "../support/apiWrites.ts";
import { type EngineRef, getEngine, waitForEngine } from "../support/engines.ts";
import { waitFor } from "../support/waitFor.ts";
import { childVersions } from "./children.ts";
import { connectTestCluster, createTradingEngine, removeEngine, type TestCluster } from "./testCluster.ts";

const quietMs = 10_000;
const idleMs = 60_000;

describe("while nothing changes", () => {
  let cluster: TestCluster;
  let engine: EngineRef;
  before(async () => {
    cluster = await connectTestCluster();
    engine = await createTradingEngine(cluster, "test-idle");
    await waitForEngine(engine, {
      what: "its first `up` to be told in status",
      deadlineMs: 30_000,
      until: ({ status }) => status?.lastUpdate?.result === "succeeded",
    });
    // What creation set in motion (Events, endpoints, the end of earlier tests' pods) must have come to rest.
    await waitFor({
      what: `${quietMs / 1000} s without a write`,
      deadlineMs: 120_000,
      everyMs: 0,
      look: () => writesDuring(quietMs),
      until: (writes) => Object.keys(writes).length === 0,
    });
  });
  after(async () => {
    await removeEngine(engine);
    await cluster.client.close();
  });

  async function writesDuring(ms: number): Promise<Readonly<Record<string, number>>> {
    const before = await writesSoFar();
    await sleep(ms);
    return writesBetween(before, await writesSoFar());
  }

  const writesSoFar = async (): Promise<WriteCounts> => ({
    ...(await countWrites(cluster.client, engineResources)),
    ...(await countDaemonWrites(cluster.client, cluster.operatorNamespace)),
  });

  const versions = async () => {
    const { metadata, status } = await getEngine(engine);
    return { engine: metadata.resourceVersion, lastUpdate: status?.lastUpdate, children: await childVersions(engine) };
  };

  it("nothing is written and no `up` runs for 60 s", async () => {
    const before = await versions();
    assert.deepEqual(await writesDuring(idleMs), {});
    assert.deepEqual(await versions(), before);
  });
});
