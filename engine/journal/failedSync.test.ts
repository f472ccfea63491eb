import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { batch, epochStart, orders } from "../testing/records.ts";
import { seededRandom } from "../testing/simulation/random.ts";
import { Scheduler } from "../testing/simulation/scheduler.ts";
import { SimulatedDisk } from "../testing/simulation/simulatedDisk.ts";
import { SimulatedProcess } from "../testing/simulation/simulatedProcess.ts";
import { openJournal } from "./journal.ts";

/** Runs `work` in a process of its own, which is killed afterwards. */
const inProcess = async <T>(
  scheduler: Scheduler,
  disk: SimulatedDisk,
  work: (process: SimulatedProcess) => Promise<T>,
): Promise<T> => {
  const process = new SimulatedProcess(scheduler);
  const results: T[] = [];
  void work(process).then((result) => results.push(result));
  await scheduler.runUntil(() => results.length > 0, scheduler.now + 1_000);
  process.end();
  disk.loseProcess(process);
  const [result] = results;
  if (result === undefined) throw new Error("the work did not end");
  return result;
};

describe("a journal whose sync failed", () => {
  it("keeps for certain what the next process found in it, though no sync would write that again", async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const scheduler = new Scheduler();
      const disk = new SimulatedDisk(scheduler, seededRandom(seed), "/data");
      const open = async (process: SimulatedProcess) => {
        const recovered: number[] = [];
        const failures: string[] = [];
        const journal = await openJournal({
          disk: disk.of(process),
          dataDir: "/data",
          clock: process.clock,
          onRecovered: ({ seq }) => recovered.push(seq),
          onDurable: () => undefined,
          onFailure: ({ reason }) => failures.push(reason),
        });
        return { journal, recovered, failures };
      };
      await inProcess(scheduler, disk, async (process) => {
        const { journal, failures } = await open(process);
        journal.append(batch(epochStart(1, 1)));
        await journal.flushed();
        disk.faults.failingSyncs = 1;
        journal.append(batch(...orders(1, 2, 4)));
        await assert.rejects(journal.flushed());
        assert.deepEqual(failures, ["io"]);
        return "failed";
      });
      const found = await inProcess(scheduler, disk, async (process) => {
        const { journal, recovered } = await open(process);
        journal.append(batch(...orders(1, recovered.length + 1, 6)));
        await journal.flushed();
        return recovered;
      });
      assert.deepEqual(found, [1, 2, 3, 4], "readers see what was written");
      disk.losePower();
      const { recovered } = await inProcess(scheduler, disk, open);
      assert.deepEqual(recovered, [1, 2, 3, 4, 5, 6], `seed ${seed}`);
    }
  });
});
