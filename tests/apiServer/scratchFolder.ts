/**
 * Scratch folders named after the process that owns them, so that those of dead processes can be found and removed.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "enginekeeper-apiserver-";
const ownerPattern = new RegExp(`^${prefix}([0-9]+)-`);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, but belongs to someone else.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Removes the scratch folders in `root` whose owner has died without doing so. */
export const removeAbandoned = async (root: string = tmpdir()): Promise<void> => {
  for (const name of await readdir(root)) {
    const owner = ownerPattern.exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    // Another process may be removing the same folder, or it may belong to another user: neither is our concern.
    await rm(join(root, name), { recursive: true, force: true }).catch(() => undefined);
  }
};

/** A new folder in `root`, readable by its owner only. */
export const makeScratchFolder = (root: string = tmpdir()): Promise<string> =>
  mkdtemp(join(root, `${prefix}${process.pid}-`));
