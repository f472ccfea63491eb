import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { EngineProcess, exitCodeOf, faultyEntry, spawnEngine } from "../testing/engineProcess.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";

describe("TE_FAULTS of a process", () => {
  it("are refused by the product with 64", async (test) => {
    const child = await spawnEngine(await temporaryDirectory(test), "te-0", { TE_FAULTS: "slow-sync-ms=1" });
    assert.equal(await exitCodeOf(child), 64);
  });

  it("are refused by the test image with 64 when they are unknown", async (test) => {
    const root = await temporaryDirectory(test);
    assert.equal(await exitCodeOf(await spawnEngine(root, "te-0", { TE_FAULTS: "odd=1" }, faultyEntry)), 64);
  });

  for (const fault of ["sync-error-after=60", "torn-write-after=60"]) {
    it(`${fault} ends it with 74, and what it acknowledged is there again without the fault`, async (test) => {
      const root = await temporaryDirectory(test);
      const faulty = await EngineProcess.start(test, root, "te-0", { TE_FAULTS: fault }, faultyEntry);
      const ended = exitCodeOf(faulty.child);
      await faulty.client.promote(1, [], { k: 0 });
      await faulty.client.accepting();
      const acknowledged = await acknowledgedUntilEnd(faulty);
      assert.ok(acknowledged.length > 0);
      assert.equal(await ended, 74);
      const well = await EngineProcess.start(test, root, "te-0");
      const held = new Set((await well.client.journal()).map(({ clientId }) => clientId));
      assert.deepEqual(
        acknowledged.filter((clientId) => !held.has(clientId)),
        [],
      );
    });
  }

  it("poison-prefix ends it with 70", async (test) => {
    const root = await temporaryDirectory(test);
    const poisoned = await EngineProcess.start(test, root, "te-0", { TE_FAULTS: "poison-prefix=bad-" }, faultyEntry);
    const ended = exitCodeOf(poisoned.child);
    await poisoned.client.promote(1, [], { k: 0 });
    await poisoned.client.accepting();
    assert.equal((await poisoned.client.bid("good-1")).status, 200);
    await poisoned.client.bid("bad-1").catch(() => undefined);
    assert.equal(await ended, 70);
  });
});

/** Client ids that were acknowledged before the process ended. */
const acknowledgedUntilEnd = async ({ child, client }: EngineProcess): Promise<string[]> => {
  const acknowledged: string[] = [];
  while (child.exitCode === null) {
    const clientId = `order-${acknowledged.length}`;
    const answer = await client.bid(clientId).catch(() => null);
    if (answer?.status !== 200) break;
    acknowledged.push(clientId);
  }
  return acknowledged;
};
