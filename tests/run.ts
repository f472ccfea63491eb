/**
 * The test command: runs the stages that were asked for, and says at its end, in one line, how
 * many tests passed and failed.
 */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { clusterDown } from "../local/cluster/cluster.ts";
import { clusterLayout } from "../local/cluster/layout.ts";
import { allTools } from "../local/embedded.ts";
import { ensureTools } from "../local/toolchain/ensure.ts";
import { cacheRoot } from "../local/toolchain/manifest.ts";

const repository = dirname(import.meta.dirname);
const here = import.meta.dirname.slice(repository.length + 1);

const usage = `usage: ./test [STAGE...] [--keep] [--only PATTERN]

Stages, in this order; without any, all of them:
  static        types, lint, format, and which folder imports which
  unit          everything that needs no cluster and no tool: a minute and a half
  integration   real etcd and API server, real engine processes, real Pulumi
  cluster       ./demo on a real three-node cluster, then every test that needs one

and, only when it is named:
  soak          what takes long: thousands of repetitions

  --keep          leave the cluster of the cluster stage running
  --only PATTERN  only test files whose path holds PATTERN (not for static)
`;

interface Count {
  passed: number;
  failed: number;
}

const everyday = ["static", "unit", "integration", "cluster"] as const;
const stages = [...everyday, "soak"] as const;
type Stage = (typeof stages)[number];

const clusterFolder = join(here, "cluster");
const soakFolder = join(here, "soak");
const integrationFolders = ["apiServer", "shape", "failover", "contract", "machine"].map((folder) =>
  join(here, folder),
);

const testFiles = (stage: Exclude<Stage, "static">, only: string): string[] => {
  const all = globSync("**/*.test.ts", { cwd: repository, exclude: (path) => path.includes("node_modules") }).sort();
  const within = (path: string, folders: readonly string[]): boolean =>
    folders.some((folder) => path.startsWith(`${folder}/`));
  const belongs = (path: string): boolean => {
    if (within(path, [clusterFolder])) return stage === "cluster";
    if (within(path, [soakFolder])) return stage === "soak";
    // Beside the code, but of whole processes that are started and killed.
    if (within(path, integrationFolders) || path.endsWith(".process.test.ts")) return stage === "integration";
    return stage === "unit";
  };
  return all.filter((path) => belongs(path) && path.includes(only)).map((path) => join(repository, path));
};

const runFiles = async (files: readonly string[], concurrency: number, fileTimeoutMs: number): Promise<Count> => {
  const count: Count = { passed: 0, failed: 0 };
  if (files.length === 0) return count;
  const stream = run({ files: [...files], concurrency, timeout: fileTimeoutMs, cwd: repository });
  stream.on("test:summary", ({ file, counts }) => {
    // The last summary, without a file, is of the whole run.
    if (file !== undefined) return;
    count.passed += counts.passed;
    count.failed += counts.tests - counts.passed - counts.skipped - counts.todo;
  });
  for await (const chunk of stream.compose(new spec())) process.stdout.write(String(chunk));
  return count;
};

/** Runs one command as one test. */
const runCommand = async (
  name: string,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Count> => {
  process.stdout.write(`▶ ${name}\n`);
  const code = await new Promise<number | null>((resolve) => {
    spawn(command, args, { cwd: repository, stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, ...env } })
      .once("error", () => resolve(null))
      .once("close", resolve);
  });
  process.stdout.write(`${code === 0 ? "✔" : "✖"} ${name}\n`);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
};

const bin = (name: string): string => join(repository, "node_modules", ".bin", name);

const runStatic = async (): Promise<Count> =>
  sum([
    await runCommand("types", process.execPath, [join(repository, "node_modules/typescript/bin/tsc"), "--noEmit"]),
    await runCommand("lint", process.execPath, [join(repository, "node_modules/eslint/bin/eslint.js"), "."]),
    await runCommand("format", bin("biome"), ["check", "."]),
    await runCommand("imports", process.execPath, [
      join(repository, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs"),
      "--config",
      ".dependency-cruiser.cjs",
      ...["api", "infra", "reconciler", "engine", "client", "local", here],
    ]),
  ]);

const runCluster = async (only: string, keep: boolean): Promise<Count> => {
  const layout = clusterLayout("test");
  const report = join(tmpdir(), `enginekeeper-demo-${process.pid}.json`);
  try {
    await clusterDown(layout);
    const demo = await runCommand("./demo on a fresh cluster", process.execPath, [
      join(import.meta.dirname, "demo/main.ts"),
      "--cluster",
      "test",
      "--json",
      report,
    ]);
    if (demo.failed > 0) return demo;
    process.stdout.write(`${await readFile(report, "utf8")}\n`);
    process.env["KUBECONFIG"] = layout.kubeconfig;
    process.env["EK_CLUSTER"] = layout.name;
    return sum([demo, await runFiles(testFiles("cluster", only), 1, 900_000)]);
  } finally {
    await rm(report, { force: true });
    if (!keep) await clusterDown(layout);
  }
};

const sum = (counts: readonly Count[]): Count => ({
  passed: counts.reduce((total, count) => total + count.passed, 0),
  failed: counts.reduce((total, count) => total + count.failed, 0),
});

const runStage = async (stage: Stage, only: string, keep: boolean): Promise<Count> => {
  process.stdout.write(`\n=== ${stage}\n`);
  switch (stage) {
    case "static":
      return await runStatic();
    case "unit":
      return await runFiles(testFiles("unit", only), 2, 120_000);
    case "integration":
      await ensureTools(allTools, (message) => process.stderr.write(`${message}\n`));
      return await runFiles(testFiles("integration", only), 1, 600_000);
    case "cluster":
      return await runCluster(only, keep);
    case "soak":
      return await runFiles(testFiles("soak", only), 1, 3_600_000);
  }
};

/** A stage that breaks off counts as a failed test, and the next ones run all the same. */
const runStageSafely = async (stage: Stage, only: string, keep: boolean): Promise<Count> => {
  try {
    return await runStage(stage, only, keep);
  } catch (error) {
    process.stdout.write(`✖ ${stage}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return { passed: 0, failed: 1 };
  }
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      keep: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const unknown = positionals.filter((name) => !stages.includes(name as Stage));
  if (values.help || unknown.length > 0) {
    process.stdout.write(usage);
    return values.help ? 0 : 64;
  }
  const wanted = positionals.length === 0 ? everyday : stages.filter((stage) => positionals.includes(stage));
  const counts: Count[] = [];
  // Most of a quick test file's time is reading and compiling what the file before it, and the run before, read too.
  process.env["NODE_COMPILE_CACHE"] = join(cacheRoot(), "compiled");
  for (const stage of wanted) counts.push(await runStageSafely(stage, values.only, values.keep));
  const total = sum(counts);
  process.stdout.write(`\n${total.passed} passed, ${total.failed} failed\n`);
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
};

process.exitCode = await main();
