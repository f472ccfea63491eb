import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";

import { openJournal } from "../journal/journal.ts";
import { nodeDisk } from "../storage/nodeDisk.ts";
import { EngineProcess, exitCodeOf, spawnEngine } from "../testing/engineProcess.ts";
import { batch, epochStart, orders, record } from "../testing/records.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { monotonicClock } from "./clock.ts";

/** A history whose third record, an epoch with an impossible tick size, no build of this engine can apply. */
const poisonedJournal = async (root: string): Promise<void> => {
  const journal = await openJournal({
    disk: nodeDisk,
    dataDir: join(root, "te-0", "data"),
    clock: monotonicClock,
    onRecovered: () => undefined,
    onDurable: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  const poison = epochStart(2, 3, { tickSize: "no number" });
  const [bystander] = orders(2, 4, 4);
  assert.ok(bystander !== undefined);
  journal.append(batch(epochStart(1, 1), ...orders(1, 2, 2), poison, record(2, 4, bystander.command, 3)));
  await journal.close();
};

describe("a record that no process survives", () => {
  it("ends two with code 70 and its number, then halts the replica", async (test) => {
    const root = await temporaryDirectory(test);
    await poisonedJournal(root);
    const log = join(root, "termination");
    for (let death = 0; death < 2; death += 1) {
      assert.equal(await exitCodeOf(await spawnEngine(root, "te-0", { TE_TERMINATION_LOG: log })), 70);
      const left = JSON.parse(await readFile(log, "utf8")) as { reason: string; seq: number };
      assert.deepEqual([left.reason, left.seq], ["applyFault", 3]);
      await rm(log);
    }

    const { client } = await EngineProcess.start(test, root, "te-0");
    const status = await client.status();
    assert.equal(status.role, "halted");
    assert.equal(status.ready, false);
    assert.match(status.readyReason, /record 3 ended this replica 2 times .* roll out a corrected build, or remove/);
    assert.deepEqual([status.lastApplyFault?.seq, status.lastApplyFault?.deaths], [3, 2]);
    assert.deepEqual(status.watermarks, { received: 4, durable: 4, committed: 3, applied: 2 });
    for (const refused of [await client.promote(3, ["te-1"]), await client.follow(3, client)]) {
      assert.deepEqual([refused.status, refused.body["code"]], [423, "HALTED"]);
    }
    const fenced = await client.fence(3);
    assert.deepEqual(fenced.body["durable"], { epoch: 2, seq: 4 });
    assert.equal((await client.status()).role, "halted");
  });

  it("is tried again by another build, which halts at it only when it dies of it twice too", async (test) => {
    const root = await temporaryDirectory(test);
    await poisonedJournal(root);
    for (const build of ["a", "a", "b", "b"]) {
      assert.equal(await exitCodeOf(await spawnEngine(root, "te-0", { TE_BUILD: build })), 70, build);
    }
    const { client } = await EngineProcess.start(test, root, "te-0", { TE_BUILD: "b" });
    assert.equal((await client.status()).role, "halted");
  });
});
