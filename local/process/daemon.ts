/**
 * Long-running programs of the embedded cluster: started detached, found again by a pid file,
 * stopped for good. What an earlier run left behind is recognised by pid and start time, so
 * that a reused pid is never killed.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface DaemonFolders {
  readonly pids: string;
  readonly logs: string;
}

interface PidRecord {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks since boot at which the process started. */
  readonly startTime: string;
}

/** Starts `command` detached, with its output in a log file, and remembers it as `name`. */
export const startDaemon = (
  folders: DaemonFolders,
  name: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): number => {
  mkdirSync(folders.pids, { recursive: true });
  mkdirSync(folders.logs, { recursive: true });
  const log = openSync(join(folders.logs, `${name}.log`), "a");
  const child = spawn(command, args, { detached: true, stdio: ["ignore", log, log], env: { ...process.env, ...env } });
  closeSync(log);
  child.on("error", () => undefined);
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name}: can't start ${command}: is it installed?`);
  const record: PidRecord = { pid, startTime: startTimeOf(pid) ?? "" };
  writeFileSync(join(folders.pids, `${name}.json`), JSON.stringify(record));
  return pid;
};

/** The pid of daemon `name`, or null when it is not running. */
export const daemonPid = (folders: DaemonFolders, name: string): number | null => {
  const file = join(folders.pids, `${name}.json`);
  if (!existsSync(file)) return null;
  const record = JSON.parse(readFileSync(file, "utf8")) as PidRecord;
  return startTimeOf(record.pid) === record.startTime ? record.pid : null;
};

/** Names of all daemons that were started in these folders, running or not. */
export const daemonNames = (folders: DaemonFolders): string[] =>
  existsSync(folders.pids) ? readdirSync(folders.pids).map((file) => file.replace(/\.json$/, "")) : [];

/** The last lines that daemon `name` logged. */
export const daemonLog = (folders: DaemonFolders, name: string, lines = 15): string => {
  const file = join(folders.logs, `${name}.log`);
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").slice(-lines).join("\n") : "";
};

/** Ends daemon `name`: TERM, then KILL after `graceMs`. A daemon that is not running is forgotten. */
export const stopDaemon = async (folders: DaemonFolders, name: string, graceMs = 5_000): Promise<void> => {
  const pid = daemonPid(folders, name);
  if (pid !== null) {
    // A stopped process would never see TERM.
    signal(pid, "SIGCONT");
    signal(pid, "SIGTERM");
    if (!(await gone(pid, graceMs))) {
      signal(pid, "SIGKILL");
      if (!(await gone(pid, 10_000))) throw new Error(`${name} (pid ${pid}) does not die: see /proc/${pid}/stack`);
    }
  }
  rmSync(join(folders.pids, `${name}.json`), { force: true });
};

/** Waits until process `pid` is gone; false when it is still there after `deadlineMs`. */
export const gone = async (pid: number, deadlineMs: number): Promise<boolean> => {
  const deadline = Date.now() + deadlineMs;
  while (alive(pid)) {
    if (Date.now() > deadline) return false;
    await sleep(20);
  }
  return true;
};

/** Sends a signal; a process that is gone already is fine. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
};

const alive = (pid: number): boolean => {
  const state = statFields(pid)?.[0];
  return state !== undefined && state !== "Z" && state !== "X";
};

const startTimeOf = (pid: number): string | null => statFields(pid)?.[19] ?? null;

/** Fields of /proc/PID/stat from the third (state) on: the second may itself hold spaces and parentheses. */
const statFields = (pid: number): string[] | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
};
