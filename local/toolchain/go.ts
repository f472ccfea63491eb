/** Finds a Go toolchain that is new enough, or brings one from the Go module proxy. */
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CommandError, run, succeeds } from "../process/run.ts";

/** The newest `go` line among the modules that are built. */
export const goVersion = "1.26.8";

/**
 * Path of a `go` of at least {@link goVersion}. The one on PATH serves when it is that new; an older
 * one still knows how to fetch the newer toolchain, which is published as a module.
 */
export const findGo = async (onLine: (line: string) => void): Promise<string> => {
  if (!(await succeeds("go", ["version"]))) {
    onLine("go is not on PATH: installing Debian's, to fetch the one that is needed");
    await run("apt-get", ["install", "-y", "--no-install-recommends", "golang-go"], { timeoutMs: 600_000 });
  }
  const printed = await run("go", ["version"], { env: { GOTOOLCHAIN: "local" } });
  if (isAtLeast(/go(\d+\.\d+(?:\.\d+)?)/.exec(printed)?.[1] ?? "0", goVersion)) return "go";
  const module = `golang.org/toolchain@v0.0.1-go${goVersion}.linux-${process.arch === "arm64" ? "arm64" : "amd64"}`;
  onLine(`go is older than ${goVersion}: fetching ${module}`);
  const answer = await run("go", ["mod", "download", "-json", module], {
    timeoutMs: 600_000,
    // The toolchain is not in the checksum database under every proxy; its go.sum line is not ours to keep.
    env: { GOFLAGS: "-mod=mod", GO111MODULE: "on" },
  });
  const { Dir: folder } = JSON.parse(answer) as { Dir?: string };
  if (folder === undefined) throw new CommandError("go mod download", 0, `no folder for ${module}`, answer);
  // Module files are stored without their executable bits.
  for (const place of ["bin", "pkg/tool/linux_amd64", "pkg/tool/linux_arm64"]) {
    const path = join(folder, place);
    if (existsSync(path)) for (const file of readdirSync(path)) chmodSync(join(path, file), 0o755);
  }
  return join(folder, "bin", "go");
};

/** Compares dotted versions number by number. */
export const isAtLeast = (version: string, wanted: string): boolean => {
  const [have, want] = [version, wanted].map((text) => text.split(".").map(Number)) as [number[], number[]];
  for (const [index, part] of want.entries()) {
    const difference = (have[index] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
};
