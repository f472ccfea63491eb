/** Builds the images of the product, and only those whose contents changed. */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cacheRoot, toolPath, tools } from "../toolchain/manifest.ts";
import { layOutBase } from "./base.ts";
import { findBuilder } from "./builder.ts";
import type { ImageArchive } from "./load.ts";
import { baseImage, engineImage, operatorImage, pauseImage } from "./names.ts";
import { copyPackages } from "./packages.ts";

/** Folders of this repository that an image holds, and the npm packages that they import. */
const engineSources = { folders: ["engine", "tests/orders"], packages: ["undici"] };
const operatorSources = {
  folders: ["api", "infra", "reconciler"],
  packages: ["@pulumi/pulumi", "@pulumi/kubernetes", "@kubernetes/client-node", "undici", "pino", "prom-client", "zod"],
};

/** Builds pause, engine and operator images where their contents changed, and answers their archives. */
export const buildImages = async (repository: string, progress: (message: string) => void): Promise<ImageArchive[]> => {
  const work = await mkdtemp(join(tmpdir(), "enginekeeper-images-"));
  try {
    const context = join(work, "context");
    await layOutContext(repository, context);
    forgetTimes(context);
    const store = join(cacheRoot(), "images");
    await mkdir(store, { recursive: true });
    const dockerfile = join(repository, "Dockerfile");
    const archive = (name: string, parts: readonly string[]): ImageArchive => {
      const digest = digestOf(parts);
      return { name, digest, file: join(store, `${name.replaceAll(/[^a-z0-9]+/g, "-")}-${digest}.tar`) };
    };
    const at = (...folders: string[]): string[] => folders.map((folder) => join(context, folder));
    const pause = archive(pauseImage, at("pause"));
    const engine = archive(engineImage, [...at("base", "engine-packages", "engine-app", "package.json"), dockerfile]);
    const operator = archive(operatorImage, [
      ...at("base", "operator-packages", "operator-app", "pulumi", "package.json"),
      dockerfile,
    ]);
    const archives = [pause, engine, operator];
    const changed = archives.filter((image) => !existsSync(image.file));
    if (changed.length === 0) return archives;

    const builder = await findBuilder(progress);
    progress(`building ${changed.map((image) => image.name).join(", ")} with ${builder.name}`);
    const scratch = join(work, "scratch.Dockerfile");
    await writeFile(scratch, 'FROM scratch\nCOPY . /\nENV PATH=/usr/local/bin:/usr/bin:/bin\nENTRYPOINT ["/pause"]\n');
    if (changed.includes(engine) || changed.includes(operator)) {
      await builder.build({ image: baseImage, context: join(context, "base"), dockerfile: scratch });
    }
    for (const image of changed) {
      const staged = `${image.file}.${process.pid}`;
      await builder.build(
        image === pause
          ? { image: image.name, context: join(context, "pause"), dockerfile: scratch, archive: staged }
          : {
              image: image.name,
              context,
              dockerfile,
              base: baseImage,
              target: image === engine ? "engine" : "operator",
              archive: staged,
            },
      );
      await removeOlder(image);
      await rename(staged, image.file);
      progress(`built ${image.name}`);
    }
    return archives;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
};

/** The build context that the Dockerfile describes. */
const layOutContext = async (repository: string, context: string): Promise<void> => {
  await mkdir(join(context, "pause"), { recursive: true });
  await copyFile(toolPath("pause"), join(context, "pause", "pause"));
  await layOutBase(join(context, "base"));
  const modules = join(repository, "node_modules");
  copySources(repository, engineSources.folders, join(context, "engine-app"));
  copyPackages(modules, engineSources.packages, join(context, "engine-packages"));
  copySources(repository, operatorSources.folders, join(context, "operator-app"));
  copyPackages(modules, operatorSources.packages, join(context, "operator-packages"));
  await writeFile(
    join(context, "package.json"),
    JSON.stringify({ name: "enginekeeper", private: true, type: "module" }),
  );
  const bin = join(context, "pulumi", "bin");
  const provider = tools["pulumi-resource-kubernetes"];
  const plugin = join(context, "pulumi", "plugins", `resource-kubernetes-${provider.version}`);
  await mkdir(bin, { recursive: true });
  await mkdir(plugin, { recursive: true });
  await copyFile(toolPath("pulumi"), join(bin, "pulumi"));
  await copyFile(toolPath("pulumi-resource-kubernetes"), join(plugin, "pulumi-resource-kubernetes"));
};

const copySources = (repository: string, folders: readonly string[], target: string): void => {
  for (const folder of folders) {
    mkdirSync(dirname(join(target, folder)), { recursive: true });
    cpSync(join(repository, folder), join(target, folder), {
      recursive: true,
      filter: (source) => !/\.test\.ts(\.snapshot)?$|\/(testing|faults)$/.test(source),
    });
  }
};

/** Gives everything the same time: a builder takes a file with another time for another file, and a layer for changed. */
const forgetTimes = (path: string): void => {
  const entry = lstatSync(path);
  if (entry.isDirectory()) for (const child of readdirSync(path)) forgetTimes(join(path, child));
  lutimesSync(path, 0, 0);
};

/** SHA-256 over names, modes and contents of everything below `paths`. */
const digestOf = (paths: readonly string[]): string => {
  const hash = createHash("sha256");
  const add = (path: string, name: string): void => {
    const entry = lstatSync(path);
    hash.update(`${name} ${entry.mode}\n`);
    if (entry.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (entry.isDirectory())
      for (const child of readdirSync(path).sort()) add(join(path, child), `${name}/${child}`);
    else hash.update(readFileSync(path));
  };
  for (const path of paths) add(path, path.slice(path.lastIndexOf("/") + 1));
  return hash.digest("hex").slice(0, 16);
};

/** Archives of earlier builds of the same image are of no use any more. */
const removeOlder = async (image: ImageArchive): Promise<void> => {
  const folder = dirname(image.file);
  const prefix = image.file.slice(folder.length + 1, -`${image.digest}.tar`.length);
  for (const file of readdirSync(folder)) {
    if (file.startsWith(prefix) && file !== image.file && !file.endsWith(`.${process.pid}`))
      await rm(join(folder, file));
  }
};
