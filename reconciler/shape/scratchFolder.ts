import { mkdir, readdir, rm, symlink } from "node:fs/promises";
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
 * Empties `root` and lays it out. Only the files of the plugins are linked in: the CLI writes logs and settings into its
 * home, while the folder that the plugins come with may be read-only; and it passes over a plugin whose folder is a link.
 */
export const prepareScratch = async (root: string, pluginsFolder: string): Promise<void> => {
  const { home, runs } = scratchFolder(root);
  await Promise.all([home, runs].map((folder) => rm(folder, { recursive: true, force: true })));
  await Promise.all([home, runs].map((folder) => mkdir(folder, { recursive: true })));
  for (const plugin of await readdir(pluginsFolder)) {
    const linked = join(home, "plugins", plugin);
    await mkdir(linked, { recursive: true });
    for (const file of await readdir(join(pluginsFolder, plugin))) {
      await symlink(join(pluginsFolder, plugin, file), join(linked, file));
    }
  }
};
