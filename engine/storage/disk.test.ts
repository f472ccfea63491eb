/** What the engine relies on, of the real disk and of the simulated one alike. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import { isErrno } from "../process/exit.ts";
import { seededRandom } from "../testing/simulation/random.ts";
import { Scheduler } from "../testing/simulation/scheduler.ts";
import { SimulatedDisk } from "../testing/simulation/simulatedDisk.ts";
import { SimulatedProcess } from "../testing/simulation/simulatedProcess.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import type { Disk } from "./disk.ts";
import { nodeDisk } from "./nodeDisk.ts";

interface Place {
  readonly disk: Disk;
  readonly dir: string;
}

const real = async (test: TestContext): Promise<Place> => ({ disk: nodeDisk, dir: await temporaryDirectory(test) });

const simulated = (test: TestContext): Promise<Place> => {
  const scheduler = new Scheduler();
  const disk = new SimulatedDisk(scheduler, seededRandom(1), "/data");
  let done = false;
  test.after(() => {
    done = true;
  });
  // An operation is waited for, so there always is an event until the test has ended.
  void scheduler.runUntil(() => done, Number.POSITIVE_INFINITY);
  const keepGoing = (): void => void scheduler.after(1, keepGoing);
  keepGoing();
  return Promise.resolve({ disk: disk.of(new SimulatedProcess(scheduler)), dir: "/data" });
};

const failsWith =
  (code: string) =>
  (error: unknown): boolean =>
    isErrno(error) && error.code === code;

const text = (content: string): Buffer => Buffer.from(content);

for (const [what, place] of [
  ["the real disk", real],
  ["the simulated disk", simulated],
] as const) {
  describe(what, () => {
    it("gives back what was written, in pieces and over what was there", async (test) => {
      const { disk, dir } = await place(test);
      const path = join(dir, "file");
      const file = await disk.open(path, "create");
      await file.write([text("one"), text("two"), text("three")], 0);
      await file.write([text("TWO")], 3);
      await file.sync();
      assert.equal(await file.size(), 11);
      await file.close();
      assert.equal((await disk.readFile(path)).toString(), "oneTWOthree");
    });

    it("reads from anywhere, and nothing behind the end", async (test) => {
      const { disk, dir } = await place(test);
      const writer = await disk.open(join(dir, "file"), "create");
      await writer.write([text("content")], 0);
      await writer.close();
      const file = await disk.open(join(dir, "file"), "read");
      const buffer = Buffer.alloc(4);
      assert.equal(await file.read(buffer, 5), 2);
      assert.equal(buffer.subarray(0, 2).toString(), "nt");
      assert.equal(await file.read(buffer, 7), 0);
      await file.close();
    });

    it("cuts a file, and keeps the rest when it is opened for writing", async (test) => {
      const { disk, dir } = await place(test);
      const path = join(dir, "file");
      const created = await disk.open(path, "create");
      await created.write([text("content")], 0);
      await created.close();
      const file = await disk.open(path, "write");
      await file.truncate(3);
      await file.close();
      assert.equal((await disk.readFile(path)).toString(), "con");
      await (await disk.open(path, "create")).close();
      assert.equal((await disk.readFile(path)).length, 0, "creating it again empties it");
    });

    it("renames over a file, removes, and lists", async (test) => {
      const { disk, dir } = await place(test);
      for (const name of ["a", "b", "c"]) {
        const file = await disk.open(join(dir, name), "create");
        await file.write([text(name)], 0);
        await file.close();
      }
      await disk.rename(join(dir, "a"), join(dir, "b"));
      await disk.remove(join(dir, "c"));
      await disk.makeDirectory(join(dir, "deep", "er"));
      await disk.syncDirectory(dir);
      assert.deepEqual((await disk.readDirectory(dir)).toSorted(), ["b", "deep"]);
      assert.equal((await disk.readFile(join(dir, "b"))).toString(), "a");
      assert.deepEqual(await disk.readDirectory(join(dir, "deep", "er")), []);
    });

    it("says what is missing, and how much room there is", async (test) => {
      const { disk, dir } = await place(test);
      await assert.rejects(disk.readFile(join(dir, "none")), failsWith("ENOENT"));
      await assert.rejects(disk.open(join(dir, "none"), "write"), failsWith("ENOENT"));
      await assert.rejects(disk.open(join(dir, "none"), "read"), failsWith("ENOENT"));
      await assert.rejects(disk.remove(join(dir, "none")), failsWith("ENOENT"));
      await disk.makeDirectory(dir);
      assert.ok((await disk.freeBytes(dir)) > 0);
    });
  });
}
