import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { prepareScratch, scratchFolder } from "./scratchFolder.ts";

const folders = async (test: TestContext): Promise<{ scratch: string; plugins: string }> => {
  const root = await mkdtemp(join(tmpdir(), "scratch-"));
  test.after(() => rm(root, { recursive: true, force: true }));
  const plugins = join(root, "plugins");
  await mkdir(join(plugins, "resource-kubernetes-v4.25.0"), { recursive: true });
  await writeFile(join(plugins, "resource-kubernetes-v4.25.0", "pulumi-resource-kubernetes"), "binary");
  return { scratch: join(root, "scratch"), plugins };
};

describe("prepareScratch", () => {
  it("gives the CLI a home with the plugins in real folders", async (test) => {
    const { scratch, plugins } = await folders(test);
    await prepareScratch(scratch, plugins);
    const { home } = scratchFolder(scratch);
    const entries = await readdir(join(home, "plugins"), { withFileTypes: true });
    assert.deepEqual(
      entries.map((entry) => [entry.name, entry.isDirectory()]),
      [["resource-kubernetes-v4.25.0", true]],
    );
    const linked = join(home, "plugins", "resource-kubernetes-v4.25.0", "pulumi-resource-kubernetes");
    assert.equal(await readFile(linked, "utf8"), "binary");
  });

  it("removes what a process before it left", async (test) => {
    const { scratch, plugins } = await folders(test);
    await prepareScratch(scratch, plugins);
    const { home, runs } = scratchFolder(scratch);
    await mkdir(join(runs, "run-x"));
    await writeFile(join(home, "logs"), "old");
    await prepareScratch(scratch, plugins);
    assert.deepEqual(await readdir(runs), []);
    assert.deepEqual(await readdir(home), ["plugins"]);
  });

  it("says which folder of plugins is missing", async (test) => {
    const { scratch, plugins } = await folders(test);
    await assert.rejects(prepareScratch(scratch, join(plugins, "none")), /ENOENT.*none/);
  });
});
