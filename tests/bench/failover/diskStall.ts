import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterLayout, NodeLayout } from "../../../local/cluster/layout.ts";
import { insideNode } from "../../../local/cluster/node.ts";
import { run } from "../../../local/process/run.ts";
import { isNotFound, type KubeClient, persistentVolumes, storageClasses } from "../../../reconciler/kube/index.ts";
import type { FailoverEvent, Heal } from "./event.ts";
import { nodeOf } from "./nodeFreeze.ts";

const className = "stallable";
const volumeSize = "2Gi";

/**
 * The volume's filesystem is frozen, so that writes and fsyncs hang as on a dead disk, while the process lives and
 * answers. Each node has one volume for it, a filesystem of its own in a file.
 */
export const diskStall: FailoverEvent = {
  name: "disk-stall",
  title: "writes and fsyncs of the primary's volume hang",
  storageClassName: className,
  prepare: async (layout, { client }) => {
    await client.apply(
      storageClasses,
      {
        metadata: { name: className },
        provisioner: "kubernetes.io/no-provisioner",
        volumeBindingMode: "WaitForFirstConsumer",
      },
      { manager: "enginekeeper-bench", force: true },
    );
    for (const node of layout.nodes) await makeVolume(layout, node, client);
    return async () => {
      for (const node of layout.nodes) await removeVolume(layout, node, client);
      await client.delete(storageClasses, { name: className });
    };
  },
  inject: async ({ layout, primary }) => {
    const node = nodeOf(layout, primary);
    await inNode(layout, node, "fsfreeze", "--freeze", mountPoint(node));
    return async () => inNode(layout, node, "fsfreeze", "--unfreeze", mountPoint(node));
  },
};

const volumeName = (node: NodeLayout): string => `${node.name}-${className}`;
const mountPoint = (node: NodeLayout): string => join(node.folder, className);
const imageFile = (node: NodeLayout): string => join(node.folder, `${className}.img`);

const inNode = async (layout: ClusterLayout, node: NodeLayout, command: string, ...args: string[]): Promise<void> => {
  await run(...insideNode(layout, node, command, args));
};

const makeVolume = async (layout: ClusterLayout, node: NodeLayout, client: KubeClient): Promise<void> => {
  await removeVolume(layout, node, client);
  await mkdir(mountPoint(node), { recursive: true });
  await run("truncate", ["--size", "2G", imageFile(node)]);
  await run("mkfs.ext4", ["-q", "-E", "root_owner=65532:65532", imageFile(node)]);
  await inNode(layout, node, "mount", "-o", "loop", imageFile(node), mountPoint(node));
  await client.create(persistentVolumes, {
    metadata: { name: volumeName(node) },
    spec: {
      capacity: { storage: volumeSize },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: className,
      local: { path: mountPoint(node) },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node.name] }] },
          ],
        },
      },
    },
  });
};

/** Also what a bench that was cut off left, frozen or not. */
const removeVolume: (...of: [ClusterLayout, NodeLayout, KubeClient]) => ReturnType<Heal> = async (
  layout,
  node,
  client,
) => {
  await client.delete(persistentVolumes, { name: volumeName(node) }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  for (const [command, ...args] of [
    ["fsfreeze", "--unfreeze"],
    ["umount", "--lazy"],
  ] as const) {
    // Fails where there is nothing mounted or frozen, which is what is wanted.
    await inNode(layout, node, command, ...args, mountPoint(node)).catch(() => undefined);
  }
  await rm(imageFile(node), { force: true });
};
