/** The embedded cluster from nothing: machine check, tools, images, cluster. */
import { clusterDown, clusterUp, isRunning } from "./cluster/cluster.ts";
import type { ClusterLayout } from "./cluster/layout.ts";
import { buildImages } from "./images/build.ts";
import type { ImageArchive } from "./images/load.ts";
import { requireMachine, requirePorts } from "./preflight.ts";
import { ensureTools } from "./toolchain/ensure.ts";
import { type ToolName, tools } from "./toolchain/manifest.ts";

/** Every tool that the cluster and its images need. */
export const allTools = Object.keys(tools) as ToolName[];

/**
 * Brings the cluster up with the images of this checkout, and answers these. Each step is skipped
 * where it has been done.
 */
export const embeddedUp = async (
  repository: string,
  layout: ClusterLayout,
  progress: (message: string) => void,
): Promise<ImageArchive[]> => {
  await requireMachine(progress);
  if (!isRunning(layout)) {
    // What an earlier start left half-made would be taken for somebody else on our ports.
    await clusterDown(layout);
    await requirePorts(layout);
  }
  await ensureTools(allTools, progress);
  const images = await buildImages(repository, progress);
  await clusterUp(layout, images, progress);
  return images;
};
