import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { access, constants, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { TestBed } from "../runRules.ts";
import { must, Violation } from "../violation.ts";

/** What every engine of the exec variant has, each as NAME or NAME.sh. */
export const commandNames = [
  "status",
  "fence",
  "promote_to_primary",
  "follow",
  "demote",
  "drain",
  "snapshot",
  "restore",
] as const;

/** `place` is for tests only: with it the kit sees which orders are acknowledged. */
export type CommandName = (typeof commandNames)[number] | "place";

/** Exit codes of a command, beside 0. */
export const commandExit = { badCall: 64, retry: 75, stale: 3, behind: 4, wrongState: 5, foreign: 77 } as const;

export interface Outcome {
  readonly command: CommandName;
  /** Null when it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Facts of a call, as TE_* variables. */
export type Facts = Readonly<Record<string, string | number>>;

const commandDeadlineMs = 30_000;
const execCluster = "trading/conformance";
let operations = 0;

/** One replica: a data folder, and the commands that are run on it. */
export class ExecReplica {
  readonly instance: string;
  readonly folder: string;
  readonly #commands: ReadonlyMap<CommandName, string>;

  constructor(instance: string, folder: string, commands: ReadonlyMap<CommandName, string>) {
    this.instance = instance;
    this.folder = folder;
    this.#commands = commands;
  }

  /** Runs a command. `killAfterMs` kills it and all that it started, if it has not ended by then. */
  async run(command: CommandName, facts: Facts = {}, killAfterMs?: number): Promise<Outcome> {
    const path = this.#commands.get(command);
    if (path === undefined)
      throw new Violation(`no executable ${command}`, `an executable ${command} or ${command}.sh`);
    operations += 1;
    const all = {
      TE_CLUSTER_UID: execCluster,
      TE_INSTANCE_ID: this.instance,
      TE_DATA_DIR: this.folder,
      TE_OP: command,
      TE_OP_ID: `kit-${operations}`,
      TE_DEADLINE_MS: 10_000,
      ...facts,
    };
    const env = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]));
    const child = spawn(path, [], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
    const closed = once(child, "close");
    const ended = new AbortController();
    void this.#killLater(child.pid, killAfterMs ?? commandDeadlineMs, ended.signal);
    const [code] = (await closed) as [number | null];
    ended.abort();
    return { command, code, stdout, stderr };
  }

  fence(epoch: number, facts: Facts = {}): Promise<Outcome> {
    return this.run("fence", { TE_EPOCH: epoch, ...facts });
  }

  promote(epoch: number, facts: Facts = {}): Promise<Outcome> {
    const body = { TE_MIN_EPOCH: 0, TE_MIN_SEQ: 0, TE_K: 1, TE_RESUME: "open", TE_MEMBERS: "te-0 te-1 te-2" };
    return this.run("promote_to_primary", { TE_EPOCH: epoch, ...body, ...facts });
  }

  /** Follows `primary`, whose status told its replication address. A follower may have to be asked again. */
  async follow(epoch: number, primary: ExecReplica, facts: Facts = {}): Promise<Outcome> {
    const { replication } = doneBy(await primary.run("status"));
    const upstream = { TE_UPSTREAM_INSTANCE: primary.instance, TE_UPSTREAM_REPLICATION: String(replication) };
    const end = performance.now() + commandDeadlineMs;
    for (;;) {
      const outcome = await this.run("follow", { TE_EPOCH: epoch, ...upstream, ...facts });
      if (outcome.code !== commandExit.retry || performance.now() > end) return outcome;
      await sleep(50);
    }
  }

  /** Places a bid of one unit; exit 0 is an acknowledgement. */
  place(clientId: string, facts: Facts = {}): Promise<Outcome> {
    return this.run("place", {
      TE_CLIENT_ID: clientId,
      TE_SIDE: "buy",
      TE_PRICE: "100.00",
      TE_QUANTITY: 1,
      ...facts,
    });
  }

  /** What the status says. */
  async status(): Promise<Readonly<Record<string, unknown>>> {
    return doneBy(await this.run("status"));
  }

  async #killLater(pid: number | undefined, afterMs: number, ended: AbortSignal): Promise<void> {
    const early = await sleep(afterMs, false, { signal: ended }).catch(() => true);
    if (early || pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It ended in between.
    }
  }
}

/** The answer of a command that must have been done: one JSON object on standard output. */
export const doneBy = (outcome: Outcome): Readonly<Record<string, unknown>> => {
  must(outcome.code === 0, describeOutcome(outcome), `${outcome.command}: exit 0`);
  try {
    const value: unknown = JSON.parse(outcome.stdout);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new Violation(
    `${outcome.command}: output ${outcome.stdout.slice(0, 200)}`,
    "one JSON object on standard output",
  );
};

/** The command must have been refused with `code`. */
export const refusedWith = (what: string, outcome: Outcome, code: keyof typeof commandExit): void => {
  const wanted = commandExit[code];
  must(outcome.code === wanted, `${what}: ${describeOutcome(outcome)}`, `${what}: exit ${wanted}`);
};

export const describeOutcome = ({ command, code, stderr }: Outcome): string =>
  `${command}: exit ${String(code)}${stderr === "" ? "" : ` (${stderr.trim().slice(0, 140)})`}`;

/** Replicas of one rule. */
export class ExecLab {
  readonly #root: string;
  readonly #commands: ReadonlyMap<CommandName, string>;

  constructor(root: string, commands: ReadonlyMap<CommandName, string>) {
    this.#root = root;
    this.#commands = commands;
  }

  async replica(instance: string): Promise<ExecReplica> {
    const folder = join(this.#root, instance);
    await mkdir(folder, { recursive: true });
    return new ExecReplica(instance, folder, this.#commands);
  }

  /** Replicas of which the first leads epoch 1 with one copy of each record, and the others follow it. */
  async elected(count: 2 | 3): Promise<readonly [ExecReplica, ExecReplica, ...ExecReplica[]]> {
    const primary = await this.replica("te-0");
    const second = await this.replica("te-1");
    const others = count === 2 ? [] : [await this.replica("te-2")];
    doneBy(await primary.promote(1));
    for (const standby of [second, ...others]) doneBy(await standby.follow(1, primary));
    return [primary, second, ...others];
  }

  /** A path for a file that a command is to write. */
  file(name: string): string {
    return join(this.#root, name);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The executables of `directory` as an engine of the exec variant. */
export const openExecBed = async (directory: string): Promise<TestBed<ExecLab>> => {
  const commands = new Map<CommandName, string>();
  for (const name of [...commandNames, "place"] as const) {
    for (const path of [join(directory, name), join(directory, `${name}.sh`)]) {
      const executable = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (executable) commands.set(name, path);
    }
  }
  const root = mkdtempSync(join(tmpdir(), "ekx-"));
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  process.on("exit", remove);
  return {
    subject: directory,
    capabilities: () => Promise.resolve(new Set(commands.has("place") ? ["place"] : [])),
    openLab: (name) => new ExecLab(join(root, name), commands),
    close() {
      process.off("exit", remove);
      remove();
      return Promise.resolve();
    },
  };
};
