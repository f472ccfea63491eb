/** Loads image archives into the containerd of every node. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClusterLayout, NodeLayout } from "../cluster/layout.ts";
import { insideNode } from "../cluster/node.ts";
import { run } from "../process/run.ts";

/** A built image as a docker-archive file. */
export interface ImageArchive {
  readonly name: string;
  readonly file: string;
  /** Changes with the contents. */
  readonly digest: string;
}

/**
 * The image's name with its contents as the tag: a workload that names it so is rolled out when
 * the contents change, and not otherwise.
 */
export const pinnedName = (image: ImageArchive): string => image.name.replace(/:[^:/]*$/, `:${image.digest}`);

/** Loads what a node does not have yet, under both of its names. */
export const loadImages = async (
  layout: ClusterLayout,
  archives: readonly ImageArchive[],
  progress: (message: string) => void,
): Promise<void> => {
  await Promise.all(
    layout.nodes.map(async (node) => {
      for (const archive of archives) await load(layout, node, archive, progress);
    }),
  );
};

const load = async (
  layout: ClusterLayout,
  node: NodeLayout,
  archive: ImageArchive,
  progress: (message: string) => void,
): Promise<void> => {
  const mark = join(node.folder, `image-${archive.name.replaceAll(/[^a-z0-9]+/g, "-")}`);
  if (existsSync(mark) && readFileSync(mark, "utf8") === archive.digest) return;
  const ctr = async (...args: string[]): Promise<void> => {
    const [command, all] = insideNode(layout, node, "ctr", ["--namespace", "k8s.io", "images", ...args]);
    await run(command, all, { timeoutMs: 300_000 });
  };
  await ctr("import", archive.file);
  await ctr("tag", "--force", archive.name, pinnedName(archive));
  writeFileSync(mark, archive.digest);
  progress(`${node.name}: loaded ${archive.name}`);
};
