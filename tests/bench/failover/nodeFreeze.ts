import { readFileSync } from "node:fs";
import { nodeCgroupPids } from "../../../local/cluster/cgroups.ts";
import type { ClusterLayout, NodeLayout } from "../../../local/cluster/layout.ts";
import { nodePids } from "../../../local/cluster/node.ts";
import { signal } from "../../../local/process/daemon.ts";
import type { Pod } from "../../../reconciler/kube/index.ts";
import type { FailoverEvent } from "./event.ts";

/**
 * SIGSTOP of kubelet, containerd, shims and every pod of the primary's node: what its peers see of a machine that hangs
 * with its network up. kube-proxy and the measuring clients go on.
 */
export const nodeFreeze: FailoverEvent = {
  name: "node-freeze",
  title: "kubelet, shims and all pods of the primary's node are stopped",
  inject: ({ layout, primary, clients }) => {
    const node = nodeOf(layout, primary);
    const spared = clients.map(({ metadata }) => metadata.uid);
    const frozen = [
      ...nodeCgroupPids(node).filter((pid) => !isOfPods(pid, spared)),
      ...nodePids(node).filter((pid) => !commandOf(pid).includes("kube-proxy")),
    ];
    for (const pid of frozen) signal(pid, "SIGSTOP");
    return Promise.resolve(() => {
      for (const pid of frozen) signal(pid, "SIGCONT");
      return Promise.resolve();
    });
  },
};

export const nodeOf = ({ nodes }: ClusterLayout, { metadata, spec }: Pod): NodeLayout => {
  const node = nodes.find(({ name }) => name === spec?.nodeName);
  if (node === undefined) throw new Error(`${metadata.name} runs on ${spec?.nodeName ?? "no node"}, which is not ours`);
  return node;
};

/** Cgroups of pods are named after the pod's uid, by systemd's driver with underscores. */
const isOfPods = (pid: number, uids: readonly string[]): boolean => {
  const cgroup = textOf(`/proc/${pid}/cgroup`).replaceAll("_", "-");
  return uids.some((uid) => cgroup.includes(uid));
};

const commandOf = (pid: number): string => textOf(`/proc/${pid}/cmdline`);

/** Empty for a process that ended meanwhile. */
const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};
