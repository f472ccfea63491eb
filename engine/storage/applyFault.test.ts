import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";

import { FatalError } from "../process/exit.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { LastApply } from "./applyFault.ts";
import { nodeDisk } from "./nodeDisk.ts";

describe("the record that ended a replica", () => {
  it("is remembered by the next process, with how often", async (test) => {
    const dir = await temporaryDirectory(test);
    await (await LastApply.load(nodeDisk, dir, "a")).remember(7, "odd");
    assert.deepEqual((await LastApply.load(nodeDisk, dir, "a")).fault, { seq: 7, build: "a", deaths: 1, error: "odd" });
    await (await LastApply.load(nodeDisk, dir, "a")).remember(7, "odd");
    assert.equal((await LastApply.load(nodeDisk, dir, "a")).fault?.deaths, 2);
  });

  it("halts the replica once it ended two processes of it, and not at the first", async (test) => {
    const dir = await temporaryDirectory(test);
    assert.equal((await LastApply.load(nodeDisk, dir, "a")).halting, null);
    await (await LastApply.load(nodeDisk, dir, "a")).remember(7, "odd");
    assert.equal((await LastApply.load(nodeDisk, dir, "a")).halting, null);
    await (await LastApply.load(nodeDisk, dir, "a")).remember(7, "odd");
    assert.equal((await LastApply.load(nodeDisk, dir, "a")).halting?.seq, 7);
  });

  it("counts anew at another record", async (test) => {
    const dir = await temporaryDirectory(test);
    await (await LastApply.load(nodeDisk, dir, "a")).remember(7, "odd");
    await (await LastApply.load(nodeDisk, dir, "a")).remember(8, "odd");
    assert.deepEqual((await LastApply.load(nodeDisk, dir, "a")).fault, { seq: 8, build: "a", deaths: 1, error: "odd" });
  });

  it("is forgiven with another build, and counts anew there", async (test) => {
    const dir = await temporaryDirectory(test);
    for (let death = 0; death < 2; death += 1) await (await LastApply.load(nodeDisk, dir, "a")).remember(7, "odd");
    const corrected = await LastApply.load(nodeDisk, dir, "b");
    assert.deepEqual([corrected.fault, corrected.halting], [null, null]);
    await corrected.remember(7, "still odd");
    assert.equal((await LastApply.load(nodeDisk, dir, "b")).fault?.deaths, 1);
  });

  it("is forgotten for good once the record is applied, and not before", async (test) => {
    const dir = await temporaryDirectory(test);
    await (await LastApply.load(nodeDisk, dir, "a")).remember(7, "odd");
    const next = await LastApply.load(nodeDisk, dir, "a");
    await next.noticeApplied(6);
    assert.equal(next.fault?.seq, 7);
    await next.noticeApplied(7);
    assert.equal(next.fault, null);
    assert.deepEqual(await readdir(dir), []);
  });

  it("is not guessed from a damaged file", async (test) => {
    const dir = await temporaryDirectory(test);
    for (const content of ["", "{", '{"seq":"7"}']) {
      await writeFile(join(dir, "last-apply"), content);
      await assert.rejects(
        LastApply.load(nodeDisk, dir, "a"),
        (error) => error instanceof FatalError && error.reason === "corrupt",
      );
    }
  });
});
