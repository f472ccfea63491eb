import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import { isErrno } from "../process/exit.ts";
import { systemTimers, type Timers } from "../process/timers.ts";
import { nodeDisk } from "../storage/nodeDisk.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import type { FaultSwitches } from "./faultSwitches.ts";
import { faultyDisk } from "./faultyDisk.ts";

const isEio = (error: unknown): boolean => isErrno(error) && error.code === "EIO";

const create = async (test: TestContext, switches: FaultSwitches, timers: Timers = systemTimers) => {
  const dir = await temporaryDirectory(test);
  const path = join(dir, "file");
  const disk = faultyDisk(nodeDisk, switches, timers);
  const file = await disk.open(path, "create");
  test.after(() => file.close());
  return { disk, dir, path, file };
};

describe("a faulty disk", () => {
  it("works like the disk behind it as long as nothing is wrong", async (test) => {
    const { disk, dir, path, file } = await create(test, {});
    await file.write([Buffer.from("content")], 0);
    await file.sync();
    await disk.syncDirectory(dir);
    assert.equal((await disk.readFile(path)).toString(), "content");
    assert.equal(await file.size(), 7);
  });

  it("fails every sync after so many, of files and of directories", async (test) => {
    const { disk, dir, file } = await create(test, { syncErrorAfter: 1 });
    await file.sync();
    await assert.rejects(file.sync(), isEio);
    await assert.rejects(disk.syncDirectory(dir), isEio);
  });

  it("never ends a sync after so many", async (test) => {
    const { file } = await create(test, { syncStallAfter: 1 });
    await file.sync();
    let ended = false;
    void file.sync().finally(() => {
      ended = true;
    });
    await file.write([Buffer.from("later")], 0);
    await file.size();
    assert.equal(ended, false);
  });

  it("takes longer for a sync", async (test) => {
    const waited: number[] = [];
    const timers: Timers = {
      ...systemTimers,
      after(milliseconds, step) {
        waited.push(milliseconds);
        step();
        return () => undefined;
      },
    };
    const { file } = await create(test, { slowSyncMs: 250 }, timers);
    await file.sync();
    assert.deepEqual(waited, [250]);
  });

  it("stops half-way through a write", async (test) => {
    const { disk, path, file } = await create(test, { tornWriteAfter: 1 });
    await file.write([Buffer.from("whole")], 0);
    await assert.rejects(file.write([Buffer.from("half"), Buffer.from("gone")], 5), isEio);
    assert.equal((await disk.readFile(path)).toString(), "wholehalf");
  });
});
