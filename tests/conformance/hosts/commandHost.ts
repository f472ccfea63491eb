import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { choosePorts } from "../../support/choosePorts.ts";
import {
  type Addresses,
  type EngineHost,
  type EnginePlace,
  type EngineRun,
  kitConfig,
  kitEnvironment,
  kitToken,
  type Settings,
  type Signal,
} from "./engineHost.ts";

export interface CommandHostOptions {
  /** Run by `sh -c "exec COMMAND"`, so that a signal reaches the engine itself. */
  readonly command: string;
  /** Working directory of the command. */
  readonly directory: string;
}

const keptOutputBytes = 4_096;

/** Runs engines as processes on loopback, each with a data folder below one temporary folder. */
export const openCommandHost = async (options: CommandHostOptions): Promise<EngineHost> => {
  // Short: the reference engine keeps a Unix socket in its data folder, and such a path has 107 bytes at most.
  const root = await mkdtemp(join(tmpdir(), "ekc-"));
  const children = new Set<ChildProcess>();
  const end = (): void => {
    for (const child of children) signalGroup(child, "SIGKILL");
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  };
  // Also when the kit ends by an error or by process.exit: engines must not outlive it.
  process.on("exit", end);
  return {
    subject: options.command,
    async makePlace(name) {
      const folder = join(root, name);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "config.json"), JSON.stringify(kitConfig));
      await writeFile(join(folder, "token"), `${kitToken}\n`);
      const [control, orders, replication, feed] = (await choosePorts(4)).map((port) => `127.0.0.1:${port}`);
      const addresses = { control: control ?? "", orders: orders ?? "", replication: replication ?? "" };
      return new LocalPlace(folder, addresses, feed ?? "", options, children);
    },
    async close() {
      await killAll(children);
      process.off("exit", end);
      end();
    },
  };
};

class LocalPlace implements EnginePlace {
  readonly #folder: string;
  readonly #addresses: Addresses;
  readonly #feed: string;
  readonly #options: CommandHostOptions;
  /** Of all places, and of this one. */
  readonly #children: Set<ChildProcess>;
  readonly #own = new Set<ChildProcess>();

  constructor(
    folder: string,
    addresses: Addresses,
    feed: string,
    options: CommandHostOptions,
    children: Set<ChildProcess>,
  ) {
    this.#folder = folder;
    this.#addresses = addresses;
    this.#feed = feed;
    this.#options = options;
    this.#children = children;
  }

  start(settings: Settings): Promise<EngineRun> {
    const env: Record<string, string | undefined> = {
      ...process.env,
      // Compiling is most of the start of an engine in Node.js; all processes share one result.
      NODE_COMPILE_CACHE: join(tmpdir(), "te-compile-cache"),
      ...kitEnvironment,
      TE_CLUSTER_UID: settings.clusterUid,
      TE_INSTANCE_ID: settings.instance,
      TE_DATA_DIR: join(this.#folder, "data"),
      TE_CONFIG_FILE: join(this.#folder, "config.json"),
      TE_TOKEN_FILE: join(this.#folder, "token"),
      TE_CONTROL_ADDR: this.#addresses.control,
      TE_ORDER_ADDR: this.#addresses.orders,
      TE_REPLICATION_ADDR: this.#addresses.replication,
      TE_FEED_ADDR: this.#feed,
      ...settings.env,
    };
    const child = spawn("/bin/sh", ["-c", `exec ${this.#options.command}`], {
      cwd: this.#options.directory,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own: what the engine starts itself is stopped and killed with it.
      detached: true,
    });
    this.#children.add(child);
    this.#own.add(child);
    const exited = new Promise<number | null>((resolve) => {
      child.once("error", () => resolve(null));
      child.once("exit", (code) => resolve(code));
    });
    void exited.then(() => {
      this.#children.delete(child);
      this.#own.delete(child);
    });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString("utf8")).slice(-keptOutputBytes);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    return Promise.resolve({
      addresses: this.#addresses,
      exited,
      signal: (signal) => {
        if (signal === "SIGTERM") child.kill(signal);
        else signalGroup(child, signal);
        return Promise.resolve();
      },
      output: () => Promise.resolve(output),
    });
  }

  async remove(): Promise<void> {
    await killAll(this.#own);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }

  async damageJournal(): Promise<void> {
    const path = await largestFileIn(join(this.#folder, "data", "journal"));
    const file = await open(path, "r+");
    try {
      const { size } = await file.stat();
      const position = Math.floor(size / 2);
      const { buffer } = await file.read(Buffer.alloc(1), 0, 1, position);
      await file.write(Buffer.of(buffer.readUInt8(0) ^ 1), 0, 1, position);
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

const killAll = async (children: ReadonlySet<ChildProcess>): Promise<void> => {
  const ends = [...children].map((child) => once(child, "exit"));
  for (const child of children) signalGroup(child, "SIGKILL");
  await Promise.all(ends);
};

const signalGroup = (child: ChildProcess, signal: Signal): void => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It ended in between.
  }
};

const largestFileIn = async (folder: string): Promise<string> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sized = await Promise.all(paths.map(async (path) => ({ path, size: (await stat(path)).size })));
  const largest = sized.toSorted((a, b) => b.size - a.size)[0];
  if (largest === undefined) throw new Error(`there is no journal file in ${folder}`);
  return largest.path;
};
