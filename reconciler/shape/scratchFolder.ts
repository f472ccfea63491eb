import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";

/** What the workers need on disk; nothing in it outlives the process. */
export interface ScratchFolder {
  /** PULUMI_HOME. */
  readonly home: string;
  /** Where each run gets a folder of its own. */
  readonly runs: string;
}

export const scratchFolder = (root: string): ScratchFolder => ({ home: join(root, "home"), runs: join(root, "runs") });

/**
 * Empties `root` and lays it out. Only the plugins are linked in: the CLI writes logs and settings into its home, while
 * the folder that the plugins come with may be read-only.
 */
export const prepareScratch = async (root: string, pluginsFolder: string): Promise<void> => {
  const { home, runs } = scratchFolder(root);
  await Promise.all([home, runs].map((folder) => rm(folder, { recursive: true, force: true })));
  await Promise.all([home, runs].map((folder) => mkdir(folder, { recursive: true })));
  await symlink(pluginsFolder, join(home, "plugins"));
};
