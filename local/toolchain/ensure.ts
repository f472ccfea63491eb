/**
 * Makes sure that a tool is there: an earlier build, the right version on PATH, a download, or
 * a build from Go modules, in this order.
 */
import { createWriteStream } from "node:fs";
import { access, chmod, constants, copyFile, cp, mkdir, mkdtemp, rename, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { run, succeeds } from "../process/run.ts";
import { findGo } from "./go.ts";
import { cacheRoot, type Tool, type ToolName, toolPath, tools } from "./manifest.ts";

/** Told about each step that takes longer than a moment. */
export type Progress = (message: string) => void;

/** Free disk, in bytes, below which a build is not even begun: caches and modules take about 20 GiB. */
const buildDiskBytes = 25 * 2 ** 30;

/** A tool that can't be had, with what to do about it. */
export class ToolchainError extends Error {
  override readonly name = "ToolchainError";
}

/**
 * Makes every tool of `names` available in the cache.
 * @throws {ToolchainError} when one can't be found, downloaded or built.
 */
export const ensureTools = async (names: readonly ToolName[], progress: Progress): Promise<void> => {
  const missing: Tool[] = [];
  for (const name of names) {
    if (!(await isExecutable(toolPath(name)))) missing.push(tools[name]);
  }
  const toBuild: Tool[] = [];
  for (const tool of missing) {
    if (await takeFromPath(tool)) progress(`${tool.name} ${tool.version}: found on PATH`);
    else if (await download(tool)) progress(`${tool.name} ${tool.version}: downloaded`);
    else toBuild.push(tool);
  }
  if (toBuild.length === 0) return;
  await requireDisk(cacheRoot());
  const go = await findGo(progress);
  progress(`building ${toBuild.length} tools from Go modules, once; on two cores this takes up to 45 minutes`);
  for (const [index, tool] of toBuild.entries()) {
    const started = Date.now();
    progress(`[${index + 1}/${toBuild.length}] ${tool.name} ${tool.version} ...`);
    await build(go, tool);
    progress(`[${index + 1}/${toBuild.length}] ${tool.name} built in ${Math.round((Date.now() - started) / 1000)} s`);
  }
  // Only the binaries are needed from here on; the build cache is 15 GB.
  await rm(buildCache(), { recursive: true, force: true });
};

const isExecutable = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Copies the tool from PATH when what it prints as its version holds the wanted one. */
const takeFromPath = async (tool: Tool): Promise<boolean> => {
  if (tool.versionArguments === null) return false;
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const candidate = join(folder, tool.name);
    if (!(await isExecutable(candidate))) continue;
    const printed = await run(candidate, tool.versionArguments, { timeoutMs: 10_000 }).catch(() => "");
    if (!new RegExp(`\\bv?${RegExp.escape(tool.version.slice(1))}\\b`).test(printed)) continue;
    await install(candidate, tool);
    return true;
  }
  return false;
};

/** Fetches the publisher's build; false where the network does not reach it. */
const download = async (tool: Tool): Promise<boolean> => {
  if (tool.download === null || process.arch !== "x64") return false;
  const folder = await mkdtemp(join(tmpdir(), "enginekeeper-download-"));
  try {
    const response = await fetch(tool.download, { signal: AbortSignal.timeout(300_000) });
    if (!response.ok || response.body === null) return false;
    const file = join(folder, tool.name);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
    await chmod(file, 0o755);
    // A captive portal answers 200 too: what came must at least run.
    if (tool.versionArguments !== null && !(await succeeds(file, tool.versionArguments))) return false;
    await install(file, tool);
    return true;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const buildCache = (): string => join(cacheRoot(), "go-build");

const build = async (go: string, tool: Tool): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), "enginekeeper-build-"));
  try {
    await cp(join(import.meta.dirname, "go", tool.module), work, { recursive: true });
    const env = {
      GOCACHE: buildCache(),
      CGO_ENABLED: "0",
      GOFLAGS: "-mod=readonly -trimpath -buildvcs=false",
      GOTOOLCHAIN: "local",
    };
    if (tool.assets !== null) {
      await run(go, ["mod", "download", tool.assets.module], { cwd: work, env, timeoutMs: 900_000 });
      const folder = await run(go, ["list", "-m", "-f", "{{.Dir}}", tool.assets.module], {
        cwd: work,
        env,
        timeoutMs: 900_000,
      });
      for (const file of tool.assets.files) {
        const copy = join(work, file.slice(file.lastIndexOf("/") + 1));
        await copyFile(join(folder.trim(), file), copy);
        await chmod(copy, 0o644);
      }
    }
    const binary = join(work, "built");
    await run(go, ["build", "-ldflags", `-s -w ${tool.link}`, "-o", binary, tool.package], {
      cwd: work,
      env,
      timeoutMs: 3_600_000,
    });
    await install(binary, tool);
  } catch (error) {
    throw new ToolchainError(`${tool.name} ${tool.version} can't be built: is the Go module proxy reachable?`, {
      cause: error,
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
};

/** Puts a binary in its place in one step: another start must never see half of it. */
const install = async (file: string, tool: Tool): Promise<void> => {
  const target = toolPath(tool.name);
  await mkdir(dirname(target), { recursive: true });
  const staged = `${target}.${process.pid}`;
  await copyFile(file, staged);
  await chmod(staged, 0o755);
  await rename(staged, target);
};

const requireDisk = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= buildDiskBytes) return;
  throw new ToolchainError(
    `${folder} has ${Math.floor(free / 2 ** 30)} GiB free, building the tools needs ${buildDiskBytes / 2 ** 30}: free some, or set ENGINEKEEPER_CACHE to a larger disk`,
  );
};
