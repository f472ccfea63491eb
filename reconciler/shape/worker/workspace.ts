/**
 * The folder that one run of the CLI works in, written by hand: with the project, the stack's settings and its
 * checkpoint in place there is nothing left for `pulumi stack init` and `pulumi stack select` to do, which saves two
 * starts of the CLI for each run. The backend belongs to this run alone, so no lock of another run can be met in it.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encryptionSalt, parseCheckpoint } from "../checkpoint.ts";
import { stackProject } from "../stackName.ts";

/** Where the parts of a run's folder are. */
export interface RunFolder {
  /** Working directory of the CLI. */
  readonly work: string;
  readonly backendUrl: string;
  readonly checkpointFile: string;
}

/** Layout of the file backend since stacks belong to projects. */
const backendMeta = "version: 1\n";

/** Writes project, settings and state of `stack` into the empty folder `directory`. */
export const writeRunFolder = async (directory: string, stack: string, checkpoint: string): Promise<RunFolder> => {
  const work = join(directory, "work");
  const backend = join(directory, "backend");
  const stacks = join(backend, ".pulumi", "stacks", stackProject);
  const checkpointFile = join(stacks, `${stack}.json`);
  await Promise.all([mkdir(work, { recursive: true }), mkdir(stacks, { recursive: true })]);
  const salt = encryptionSalt(parseCheckpoint(checkpoint));
  await Promise.all([
    writeFile(join(work, "Pulumi.yaml"), `name: ${stackProject}\nruntime: nodejs\n`),
    writeFile(join(work, `Pulumi.${stack}.yaml`), salt === undefined ? "{}\n" : `encryptionsalt: ${salt}\n`),
    writeFile(join(backend, ".pulumi", "meta.yaml"), backendMeta),
    writeFile(checkpointFile, checkpoint),
  ]);
  return { work, backendUrl: `file://${backend}`, checkpointFile };
};

/** The state that the run left; `undefined` when a killed CLI left none that can be read. */
export const readCheckpoint = async (folder: RunFolder): Promise<string | undefined> => {
  try {
    const text = await readFile(folder.checkpointFile, "utf8");
    parseCheckpoint(text);
    return text;
  } catch {
    return undefined;
  }
};
