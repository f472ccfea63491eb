/** Runs a program to its end, with a deadline, and says what it printed when it fails. */
import { spawn } from "node:child_process";

/** A program that ended badly, or not in time. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly command: string;
  readonly exitCode: number | null;
  readonly output: string;

  constructor(command: string, exitCode: number | null, reason: string, output: string) {
    super(`${command}: ${reason}${output === "" ? "" : `\n${output}`}`);
    this.command = command;
    this.exitCode = exitCode;
    this.output = output;
  }
}

export interface RunOptions {
  readonly cwd?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs?: number;
  /** Called with each line of either stream, as it comes. */
  readonly onLine?: (line: string) => void;
}

const keptOutput = 8_000;

/**
 * Runs `command` and answers what it wrote to standard output.
 * @throws {CommandError} when it can't be started, exits non-zero or is still running at `timeoutMs` (default 60 s).
 */
export const run = async (command: string, args: readonly string[], options: RunOptions = {}): Promise<string> => {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const title = [command, ...args].join(" ");
  let stdout = "";
  let tail = "";
  let pending = "";
  const take = (chunk: string): void => {
    tail = (tail + chunk).slice(-keptOutput);
    if (options.onLine === undefined) return;
    const lines = (pending + chunk).split("\n");
    pending = lines.pop() ?? "";
    lines.forEach(options.onLine);
  };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    take(chunk);
  });
  child.stderr.setEncoding("utf8").on("data", take);
  // A program that ends without reading its input closes the pipe: its exit code tells more than the EPIPE.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");

  const timeoutMs = options.timeoutMs ?? 60_000;
  return await new Promise<string>((resolve, reject) => {
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid);
    }, timeoutMs);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(new CommandError(title, null, error.message, ""));
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      if (pending !== "") options.onLine?.(pending);
      if (timedOut) reject(new CommandError(title, code, `still running after ${timeoutMs} ms, killed`, tail));
      else if (code !== 0) reject(new CommandError(title, code, `ended with ${signal ?? code ?? "?"}`, tail));
      else resolve(stdout);
    });
  });
};

/** Ends a program and everything that it started. */
const killGroup = (pid: number | undefined): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Gone already.
  }
};

/** Whether `command` runs and exits 0. */
export const succeeds = async (
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<boolean> => {
  try {
    await run(command, args, options);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
};
