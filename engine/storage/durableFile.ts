import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";

import { isErrno } from "../process/exit.ts";

/**
 * Replaces `path` by `content` so that after any crash either the old or the new content is there, and
 * after this returned only the new one. The directory is synced too: a rename alone may be lost with the power.
 */
export const writeDurably = async (path: string, content: string | Uint8Array): Promise<void> => {
  const temporary = `${path}.new`;
  const file = await open(temporary, "w");
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
};

/** Makes the creation, renaming and removal of the files in `path` durable. */
export const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

/** Content of `path`; null when there is no such file. */
export const readIfPresent = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isErrno(error) && error.code === "ENOENT") return null;
    throw error;
  }
};
