/** What a person reads when the machine lacks something: one line, with the cure, and nothing half-made. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { run } from "../../local/process/run.ts";

const repository = dirname(dirname(import.meta.dirname));
const deadlineMs = 120_000;

interface Ending {
  readonly code: number | null;
  readonly stderr: string;
}

const end = async (
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ending> => {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  clearTimeout(timer);
  return { code, stderr: stderr.trim() };
};

const demo = [process.execPath, join("tests", "demo", "main.ts")] as const;

describe("./demo on a machine that lacks something", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "enginekeeper-lacks-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("says so when it is not root, and offers a cluster of one's own", async () => {
    const ending = await end("setpriv", ["--reuid=65534", "--clear-groups", ...demo, "--cluster", "test"], repository);
    assert.equal(ending.code, 1);
    assert.match(ending.stderr, /^the embedded cluster needs root .*--context NAME.*$/);
  });

  it("says how much disk is free and how much is needed", async () => {
    const small = join(folder, "small");
    mkdirSync(small);
    await run("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", small]);
    try {
      const ending = await end(demo[0], [demo[1], "--cluster", "test"], repository, {
        ENGINEKEEPER_CACHE: join(small, "cache"),
      });
      assert.equal(ending.code, 1);
      assert.match(ending.stderr, /^\S+\/small has 0\.0 GiB free, \d+ GiB are needed: free some$/);
    } finally {
      await run("umount", [small]);
    }
  });

  it("asks for the npm registry when the packages can't be fetched", async () => {
    const checkout = join(folder, "checkout");
    mkdirSync(join(checkout, "local"), { recursive: true });
    for (const file of ["demo", "package.json", "package-lock.json", "local/bootstrap.sh"])
      cpSync(join(repository, file), join(checkout, file));
    const offline = { npm_config_cache: join(folder, "npm-cache"), npm_config_fetch_retries: "0" };
    const ending = await end("unshare", ["--net", "./demo"], checkout, offline);
    assert.equal(ending.code, 1);
    assert.match(ending.stderr.split("\n").at(-1) ?? "", /^npm ci failed, is the npm registry reachable\? npm error/);
  });
});
