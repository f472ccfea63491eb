import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readProgramVersion } from "./programVersion.ts";

describe("readProgramVersion", () => {
  it("is that of the program in this checkout, each time", async () => {
    const version = await readProgramVersion();
    assert.match(version, /^[0-9a-f]{16}$/);
    assert.equal(await readProgramVersion(), version);
  });

  it("follows the code that makes children, and nothing else", async (test) => {
    const repository = await mkdtemp(join(tmpdir(), "program-version-"));
    test.after(() => rm(repository, { recursive: true, force: true }));
    const here = join(repository, "reconciler", "shape");
    await Promise.all(
      ["infra/engine", "api", "reconciler/shape"].map((path) => mkdir(join(repository, path), { recursive: true })),
    );
    const write = (path: string, text: string) => writeFile(join(repository, path), text);
    await write("infra/engine/services.ts", "1");
    const first = await readProgramVersion(here);
    await write("infra/engine/services.test.ts", "a test");
    await write("infra/README.md", "words");
    await write("reconciler/shape/lane.ts", "the reconciler");
    assert.equal(await readProgramVersion(here), first);
    await write("infra/engine/services.ts", "2");
    const second = await readProgramVersion(here);
    assert.notEqual(second, first);
    await write("api/names.ts", "new");
    assert.notEqual(await readProgramVersion(here), second);
  });
});
