import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Folders whose content decides what children look like for the same spec. */
const programFolders = ["../../infra", "../../api"] as const;

/**
 * Hash of the code that makes an engine's children, so that a new version of it reaches engines whose spec did not
 * change, and an unchanged one causes no run, whatever the release is called.
 */
export const readProgramVersion = async (root: string = import.meta.dirname): Promise<string> => {
  const hash = createHash("sha256");
  for (const folder of programFolders) {
    const base = join(root, folder);
    const files = (await readdir(base, { recursive: true })).filter(isProgram).sort();
    for (const file of files) hash.update(file).update(await readFile(join(base, file)));
  }
  return hash.digest("hex").slice(0, 16);
};

const isProgram = (file: string): boolean => file.endsWith(".ts") && !file.endsWith(".test.ts");
