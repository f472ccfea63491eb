/**
 * Ending a worker with everything it started. A process group is not enough for that: the CLI gives each of its
 * plugins a group of its own, and a plugin whose CLI was killed lives on for ever. All of them stay in the session that
 * the worker leads.
 */
import { readdirSync, readFileSync } from "node:fs";

/** Process ids of a session's living members. Empty where there is no /proc. */
export const sessionMembers = (session: number): readonly number[] => {
  const members: number[] = [];
  for (const entry of listProcesses()) {
    if (sessionOf(entry) === session) members.push(Number(entry));
  }
  return members;
};

/** Kills every member of the session that process `leader` leads, the leader last, so that it can be the caller. */
export const killSession = (leader: number): void => {
  for (const pid of sessionMembers(leader)) if (pid !== leader) kill(pid, "SIGKILL");
  // Also reaches the group where there is no /proc to find the others by.
  kill(-leader, "SIGKILL");
};

/** Asks the leader's process group to end in order. */
export const terminateGroup = (leader: number): void => kill(-leader, "SIGTERM");

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself, which is all that was wanted.
  }
};

const listProcesses = (): readonly string[] => {
  try {
    return readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  } catch {
    return [];
  }
};

/**
 * Fields of /proc/PID/stat after the command's closing bracket: state, parent, group, session. A zombie has nothing left
 * to be ended and waits for its parent alone.
 */
const sessionOf = (pid: string): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, , , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? undefined : Number(session);
  } catch {
    return undefined;
  }
};
