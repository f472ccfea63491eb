/** The embedded cluster as a whole: up, down, and whether it runs. */
import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ImageArchive, loadImages } from "../images/load.ts";
import { daemonNames, daemonPid, stopDaemon } from "../process/daemon.ts";
import { applyAddons, recycleVolumes } from "./addons.ts";
import { ensureCertificates } from "./certificates.ts";
import { startControlPlane } from "./controlPlane.ts";
import { kubectl } from "./kubectl.ts";
import { type ClusterLayout, clustersRoot } from "./layout.ts";
import { ensureNetwork, removeNetwork } from "./network.ts";
import { destroyNode, mountPoints, startContainerd, startKubelet } from "./node.ts";
import { waitReady } from "./ready.ts";

/** Written last by a start: a cluster without it was left half-made. */
const completeMark = (layout: ClusterLayout): string => join(layout.folder, "complete");

/** Whether the cluster was started to the end and every process of it still runs. */
export const isRunning = (layout: ClusterLayout): boolean =>
  existsSync(completeMark(layout)) && daemonNames(layout).every((name) => daemonPid(layout, name) !== null);

/**
 * Brings the cluster up with the images loaded. One that runs already only gets new images and
 * fresh volumes; one that was left half-made, or lost a process, is removed and made anew.
 */
export const clusterUp = async (
  layout: ClusterLayout,
  images: readonly ImageArchive[],
  progress: (message: string) => void,
): Promise<void> => {
  if (isRunning(layout)) {
    progress(`cluster ${layout.name} is running`);
    await loadImages(layout, images, progress);
    await recycleVolumes(layout);
    return;
  }
  await clusterDown(layout);
  progress(`starting cluster ${layout.name}: etcd, API server and ${layout.nodes.length} nodes`);
  await mkdir(layout.folder, { recursive: true, mode: 0o755 });
  await ensureCertificates(layout);
  await ensureNetwork(layout);
  const nodes = Promise.all(layout.nodes.map((node) => startContainerd(layout, node)));
  await Promise.all([startControlPlane(layout), nodes.then(() => loadImages(layout, images, progress))]);
  for (const node of layout.nodes) startKubelet(layout, node);
  await applyAddons(layout);
  await waitReady("the nodes", 90_000, () => nodesReady(layout), 500);
  await writeFile(completeMark(layout), "");
  progress(`cluster ${layout.name} is up: KUBECONFIG=${layout.kubeconfig}`);
};

const nodesReady = async (layout: ClusterLayout): Promise<string | null> => {
  const template = '{range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const lines = (await kubectl(layout.kubeconfig, ["get", "nodes", "-o", `jsonpath=${template}`])).trim().split("\n");
  const ready = lines.filter((line) => line.endsWith(" True")).length;
  return ready === layout.nodes.length ? null : `${ready} of ${layout.nodes.length} nodes are Ready`;
};

/** Removes every trace of the cluster: processes, pods, mounts, namespaces, cgroups, links and files. */
export const clusterDown = async (layout: ClusterLayout): Promise<void> => {
  // Nodes first: a kubelet without its API server only logs errors, but pods of a dead cluster keep their mounts.
  for (const node of layout.nodes) await destroyNode(node);
  // Nothing of it will be read again: no grace for a clean end.
  await Promise.all(daemonNames(layout).map((name) => stopDaemon(layout, name, 0)));
  await removeNetwork(layout);
  await rm(layout.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  for (const path of [clustersRoot, dirname(clustersRoot), ...mountPoints]) removeIfEmpty(path);
};

/** Mount points that only a cluster used are left empty; a folder that something else uses is not. */
const removeIfEmpty = (folder: string): void => {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
};
