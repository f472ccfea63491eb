/**
 * One node: a holder process keeps its network and mount namespaces open; containerd, kubelet
 * and kube-proxy run in them on their standard ports and paths.
 */
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { daemonLog, daemonPid, signal, startDaemon } from "../process/daemon.ts";
import { succeeds } from "../process/run.ts";
import { toolPath } from "../toolchain/manifest.ts";
import { kubeconfigOf } from "./certificates.ts";
import { ensureNodeCgroup, removeNodeCgroup } from "./cgroups.ts";
import type { ClusterLayout, NodeLayout } from "./layout.ts";
import { containerdConfig, kubeletConfig, kubeProxyConfig, podNetworkConfig } from "./nodeConfig.ts";
import { waitReady } from "./ready.ts";

/** Folders that programs expect at fixed paths, and what stands there inside a node. */
const privateMounts = {
  "/var/lib/kubelet": "kubelet",
  "/var/lib/cni": "cni-state",
  "/var/log/pods": "pod-logs",
  "/var/log/containers": "container-logs",
} as const;

/** Mount points that a cluster makes on the host if they are missing. */
export const mountPoints: readonly string[] = [...Object.keys(privateMounts), "/run/containerd"];

const daemonNamesOf = (node: NodeLayout) =>
  ({
    holder: `${node.name}-namespaces`,
    containerd: `${node.name}-containerd`,
    kubelet: `${node.name}-kubelet`,
    proxy: `${node.name}-kube-proxy`,
  }) as const;

/** Starts the namespaces and containerd, so that images can be loaded before the API server is up. */
export const startContainerd = async (layout: ClusterLayout, node: NodeLayout): Promise<void> => {
  const names = daemonNamesOf(node);
  for (const folder of [...Object.values(privateMounts), "containerd", "cni", "volumes"]) {
    await mkdir(join(node.folder, folder), { recursive: true });
  }
  for (const path of mountPoints) await mkdir(path, { recursive: true });
  await ensureNodeCgroup(node);
  await writeFile(join(node.folder, "cni", "10-pods.conflist"), podNetworkConfig(node));
  await writeFile(join(node.folder, "containerd.toml"), containerdConfig(node));
  await writeFile(join(node.folder, "kubelet.json"), kubeletConfig(layout, node));
  await writeFile(join(node.folder, "kube-proxy.json"), kubeProxyConfig(layout, node));

  const mounts = Object.entries(privateMounts).map(
    ([path, folder]) => `mount --bind '${join(node.folder, folder)}' ${path} && mount --make-rshared ${path}`,
  );
  const script = [
    ...mounts,
    "mount -t tmpfs -o mode=0711 tmpfs /run/containerd",
    `touch '${heldMark(node)}'`,
    "exec sleep infinity",
  ].join(" && ");
  startDaemon(layout, names.holder, "nsenter", [
    `--net=/run/netns/${node.networkNamespace}`,
    "unshare",
    "--mount",
    "--propagation",
    "private",
    "sh",
    "-c",
    script,
  ]);
  await waitReady(
    `the namespaces of ${node.name}`,
    10_000,
    () => {
      if (daemonPid(layout, names.holder) === null) return Promise.resolve(daemonLog(layout, names.holder));
      return Promise.resolve(
        statSync(heldMark(node), { throwIfNoEntry: false }) === undefined ? "mounts are not made" : null,
      );
    },
    10,
  );
  startInside(layout, node, names.containerd, "containerd", ["--config", join(node.folder, "containerd.toml")]);
  await waitReady(`containerd of ${node.name}`, 30_000, async () => {
    if (daemonPid(layout, names.containerd) === null) return daemonLog(layout, names.containerd);
    const [command, args] = insideNode(layout, node, "ctr", ["version"]);
    return (await succeeds(command, args, { timeoutMs: 5_000 })) ? null : "ctr version fails";
  });
};

/** Starts kubelet and kube-proxy; needs the API server. */
export const startKubelet = (layout: ClusterLayout, node: NodeLayout): void => {
  const names = daemonNamesOf(node);
  startInside(layout, node, names.kubelet, toolPath("kubelet"), [
    `--config=${join(node.folder, "kubelet.json")}`,
    `--kubeconfig=${kubeconfigOf(layout, node.name)}`,
    `--hostname-override=${node.name}`,
    `--node-ip=${node.address}`,
  ]);
  startInside(layout, node, names.proxy, toolPath("kube-proxy"), [`--config=${join(node.folder, "kube-proxy.json")}`]);
};

/** The command that runs `command` inside a node's namespaces. */
export const insideNode = (
  layout: ClusterLayout,
  node: NodeLayout,
  command: string,
  args: readonly string[],
): [string, string[]] => {
  const holder = daemonPid(layout, daemonNamesOf(node).holder);
  if (holder === null) throw new Error(`${node.name} is not running: start the cluster first`);
  return ["nsenter", ["--target", String(holder), "--net", "--mount", command, ...args]];
};

const startInside = (
  layout: ClusterLayout,
  node: NodeLayout,
  name: string,
  command: string,
  args: readonly string[],
): void => {
  const [program, all] = insideNode(layout, node, command, args);
  startDaemon(layout, name, program, all);
};

/** Ends everything that runs on the node, its pods included, and removes its cgroups. */
export const destroyNode = async (node: NodeLayout): Promise<void> => {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const left = nodePids(node);
    for (const pid of left) signal(pid, "SIGKILL");
    if (removeNodeCgroup(node) && left.length === 0) return;
    if (Date.now() > deadline)
      throw new Error(`${node.name}: processes ${left.join(", ")} or its cgroups can't be removed`);
    await sleep(50);
  }
};

/**
 * Pids of the daemons and container shims of a node, found by its network namespace. Pods have
 * namespaces of their own and are found by their cgroup.
 */
export const nodePids = (node: NodeLayout): number[] => {
  const namespace = statSync(`/run/netns/${node.networkNamespace}`, { throwIfNoEntry: false });
  if (namespace === undefined) return [];
  const wanted = `net:[${namespace.ino}]`;
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/ns/net`) === wanted;
      } catch {
        return false;
      }
    })
    .map(Number);
};

const heldMark = (node: NodeLayout): string => join(node.folder, "namespaces-held");
