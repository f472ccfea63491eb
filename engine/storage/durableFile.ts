import { dirname } from "node:path";

import { isErrno } from "../process/exit.ts";
import type { Disk } from "./disk.ts";

/**
 * Replaces `path` by `content` so that after any crash either the old or the new content is there, and
 * after this returned only the new one. The directory is synced too: a rename alone may be lost with the power.
 */
export const writeDurably = async (disk: Disk, path: string, content: Uint8Array): Promise<void> => {
  const temporary = `${path}.new`;
  const file = await disk.open(temporary, "create");
  try {
    await file.write([content], 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await disk.rename(temporary, path);
  await disk.syncDirectory(dirname(path));
};

/** Removes `path`, which is there, so that no crash brings it back. */
export const removeDurably = async (disk: Disk, path: string): Promise<void> => {
  await disk.remove(path);
  await disk.syncDirectory(dirname(path));
};

/** Content of `path`; null when there is no such file. */
export const readIfPresent = async (disk: Disk, path: string): Promise<string | null> => {
  try {
    return (await disk.readFile(path)).toString("utf8");
  } catch (error) {
    if (isErrno(error) && error.code === "ENOENT") return null;
    throw error;
  }
};
