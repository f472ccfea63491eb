/**
 * A child process whose life is bound to ours: the kernel kills it when this process dies, however that happens.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** How a process that is no more has ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface BoundProcess {
  readonly pid: number;
  /** Settles when the process has ended. */
  readonly ended: Promise<Ending>;
  /** How it ended, or null while it runs. */
  ending(): Ending | null;
  /** Sends a signal; nothing happens when the process has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Kills it, paused or not, and waits for its end. */
  kill(): Promise<void>;
  /** The end of what it wrote. */
  lastOutput(): Promise<string>;
}

const outputTail = 4000;

const pidOf = (child: ChildProcess, command: string): number => {
  if (child.pid === undefined) throw new Error(`${command} could not be started: is util-linux's setpriv installed?`);
  return child.pid;
};

/**
 * Starts `command`, its output going to `logFile`. It does not keep this process alive, and ends with it.
 * @throws when it cannot be started at all; a command that ends at once is seen by `ending`
 */
export const startBoundProcess = async (
  command: string,
  commandArguments: readonly string[],
  logFile: string,
): Promise<BoundProcess> => {
  const log = openSync(logFile, "a", 0o600);
  const child = spawn("setpriv", ["--pdeathsig", "KILL", command, ...commandArguments], {
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  let ending: Ending | null = null;
  const ended = new Promise<Ending>((resolve) => {
    child.once("exit", (code, signal) => {
      ending = { code, signal };
      resolve(ending);
    });
  });
  await once(child, "spawn");
  child.unref();
  return {
    pid: pidOf(child, command),
    ended,
    ending: () => ending,
    signal: (signal) => {
      child.kill(signal);
    },
    kill: async () => {
      if (ending !== null) return;
      // Waiting needs a referenced child: the wait alone would not keep this process alive.
      child.ref();
      child.kill("SIGKILL");
      await ended;
    },
    lastOutput: async () => (await readFile(logFile, "utf8")).slice(-outputTail),
  };
};
