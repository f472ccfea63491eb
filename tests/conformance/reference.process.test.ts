import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";

import { temporaryDirectory } from "../../engine/testing/temporaryDirectory.ts";
import type { Report } from "./report.ts";

const repository = dirname(dirname(import.meta.dirname));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const conformance = async (
  args: readonly string[],
  temporary: string = tmpdir(),
  onProgress: (kit: ReturnType<typeof spawn>) => void = () => undefined,
): Promise<Ended> => {
  const kit = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), ...args], {
    cwd: repository,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  kit.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  kit.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
    onProgress(kit);
  });
  const [code] = (await once(kit, "close")) as [number | null];
  return { code, stdout, stderr };
};

const engine = `'${process.execPath}' '${join(repository, "engine", "main.ts")}'`;

describe("the conformance kit", () => {
  it("passes the reference engine on every rule that it claims", async (test) => {
    const folder = await temporaryDirectory(test);
    const json = join(folder, "report.json");
    const { code, stdout } = await conformance(["--command", engine, "--jobs", "4", "--json", json], folder);
    assert.equal(code, 0, stdout);
    const report = JSON.parse(await readFile(json, "utf8")) as Report;
    const applicable = report.rules.filter(({ verdict }) => verdict !== "not applicable");
    assert.deepEqual([report.failed, report.passed], [0, applicable.length]);
    assert.match(stdout, /promise-survives-kill +passed/);
    assert.deepEqual(await readdir(folder), ["report.json", "te-compile-cache"]);
  });

  it("tells which rule is broken, what was seen, what must be, and what that prevents", async () => {
    const broken = `'${process.execPath}' '${join(import.meta.dirname, "broken", "main.ts")}' takes-stale-epochs`;
    const { code, stdout } = await conformance(["--command", broken, "--only", "stale-epoch-refused"]);
    assert.equal(code, 1);
    assert.match(stdout, /stale-epoch-refused +failed +fence with epoch 4 after a promise of 5: 200/);
    assert.match(stdout, /must be +fence with epoch 4 after a promise of 5: 409 STALE_EPOCH/);
    assert.match(stdout, /it prevents +a late call/);
    assert.match(stdout, /0 passed, 1 failed/);
  });

  it("says so when the engine does not start", async () => {
    const { code, stderr } = await conformance(["--command", "node -e 'console.log(`no such luck`); process.exit(3)'"]);
    assert.equal(code, 1);
    assert.match(stderr, /the engine can't be tested: te-0: exit code 3; last output: no such luck/);
  });

  it("exits 64 on bad usage", async () => {
    const { code, stderr } = await conformance(["--command", engine, "--only", "no-such-rule"]);
    assert.equal(code, 64);
    assert.match(stderr, /there is no rule no-such-rule/);
  });

  it("leaves neither processes nor files behind when it is interrupted", async (test) => {
    const folder = await temporaryDirectory(test);
    const { code } = await conformance(["--command", engine], folder, (kit) => kit.kill("SIGTERM"));
    assert.equal(code, 143);
    assert.deepEqual(await readdir(folder), ["te-compile-cache"]);
    assert.deepEqual(await processesUnder(folder), []);
  });
});

/** Processes whose environment names a file in `folder`. */
const processesUnder = async (folder: string): Promise<string[]> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")));
  return pids.filter((_, index) => environments[index]?.includes(`TE_DATA_DIR=${folder}`));
};
