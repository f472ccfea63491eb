/** Finds the processes of an engine's pod among all that run on the embedded cluster's nodes, for tests that kill one. */
import { readFileSync } from "node:fs";
import { clusterUid } from "../../api/names.ts";
import { nodeCgroupPids } from "./cgroups.ts";
import type { ClusterLayout } from "./layout.ts";

/** Host pids of the engine process of pod `pod`; by the environment that its container was started with. */
export const enginePids = (layout: ClusterLayout, namespace: string, engine: string, pod: string): number[] => {
  const wanted = [`TE_INSTANCE_ID=${pod}`, `TE_CLUSTER_UID=${clusterUid(namespace, engine)}`];
  return layout.nodes.flatMap(nodeCgroupPids).filter((pid) => {
    const environment = environmentOf(pid);
    return wanted.every((entry) => environment.includes(entry));
  });
};

/** A process that ended meanwhile has none. */
const environmentOf = (pid: number): string[] => {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
};
