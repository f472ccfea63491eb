import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { makeScratchFolder, removeAbandoned } from "./scratchFolder.ts";

describe("scratch folders", () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "scratch-folder-test-"));
  });
  after(() => rm(root, { recursive: true, force: true }));

  it("are removed once their owner is dead, and only then", async () => {
    const dead = spawnSync("true").pid;
    await mkdir(join(root, `enginekeeper-apiserver-${dead}-abandoned`, "etcd"), { recursive: true });
    await mkdir(join(root, "somebody-elses-folder"));
    const mine = await makeScratchFolder(root);

    await removeAbandoned(root);

    assert.deepEqual((await readdir(root)).sort(), [basename(mine), "somebody-elses-folder"].sort());
  });
});
