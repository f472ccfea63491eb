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

/** Loads what a node does not have yet. */
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
  const [command, args] = insideNode(layout, node, "ctr", ["--namespace", "k8s.io", "images", "import", archive.file]);
  await run(command, args, { timeoutMs: 300_000 });
  writeFileSync(mark, archive.digest);
  progress(`${node.name}: loaded ${archive.name}`);
};
