/** The cgroup of each node, in whichever hierarchies this machine has (version 1, 2, or both). */
import { existsSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { signal } from "../process/daemon.ts";
import type { NodeLayout } from "./layout.ts";

const root = "/sys/fs/cgroup";

/** Roots of all mounted cgroup hierarchies. */
const hierarchies = (): string[] => {
  if (existsSync(join(root, "cgroup.controllers"))) return [root];
  // v1 folders may be links to one another (cpu,cpuacct); "unified" is an empty v2 beside them.
  return readdirSync(root)
    .map((entry) => join(root, entry))
    .filter((path) => statSync(path).isDirectory());
};

/** Creates the node's cgroup, ready for a kubelet to make children in it. */
export const ensureNodeCgroup = async (node: NodeLayout): Promise<void> => {
  for (const hierarchy of hierarchies()) {
    const controllers = join(hierarchy, "cgroup.subtree_control");
    const folder = join(hierarchy, node.cgroup);
    await mkdir(folder, { recursive: true });
    if (existsSync(controllers)) {
      const available = readFileSync(join(hierarchy, "cgroup.controllers"), "utf8").trim().split(/\s+/).filter(Boolean);
      const enable = available.map((name) => `+${name}`).join(" ");
      if (enable !== "")
        for (const place of [hierarchy, folder]) writeFileSync(join(place, "cgroup.subtree_control"), enable);
    }
    // A v1 cpuset without processors or memory refuses every process.
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      if (existsSync(controllers) || !existsSync(join(folder, file))) continue;
      writeFileSync(join(folder, file), readFileSync(join(hierarchy, file), "utf8"));
    }
  }
};

/** Pids of every process in the node's cgroup: its pods. */
export const nodeCgroupPids = (node: NodeLayout): number[] => {
  const pids = new Set<number>();
  for (const hierarchy of hierarchies()) {
    for (const folder of foldersBelow(join(hierarchy, node.cgroup))) {
      for (const line of readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n")) {
        if (line !== "") pids.add(Number(line));
      }
    }
  }
  return [...pids];
};

/** Kills what runs in the node's cgroup and removes it. False while something is still there. */
export const removeNodeCgroup = (node: NodeLayout): boolean => {
  for (const pid of nodeCgroupPids(node)) signal(pid, "SIGKILL");
  let removed = true;
  for (const hierarchy of hierarchies()) {
    for (const folder of foldersBelow(join(hierarchy, node.cgroup)).reverse()) {
      try {
        rmdirSync(folder);
      } catch {
        removed = false;
      }
    }
  }
  return removed;
};

/** `folder` and all below it, parents first; empty when it does not exist. */
const foldersBelow = (folder: string): string[] => {
  if (!existsSync(folder)) return [];
  const children = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...children.flatMap((entry) => foldersBelow(join(folder, entry.name)))];
};
