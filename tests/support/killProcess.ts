import { enginePids } from "../../local/cluster/enginePids.ts";
import type { ClusterLayout } from "../../local/cluster/layout.ts";
import { signal } from "../../local/process/daemon.ts";
import { deletePrimaryPod, type Kill } from "./failoverScenario.ts";

/** SIGKILL of the primary's process on its node, as by the kernel when memory runs out. The kubelet restarts it in its pod. */
export const killPrimaryProcess =
  (layout: ClusterLayout, engine: string): Kill =>
  ({ metadata: { namespace, name } }) => {
    const pids = enginePids(layout, namespace, engine, name);
    if (pids.length === 0) throw new Error(`no process of ${namespace}/${name} runs on cluster ${layout.name}`);
    for (const pid of pids) signal(pid, "SIGKILL");
    return Promise.resolve();
  };

/** The process is killed, and its pod is gone too: the replica is lost, and nobody had time to take leave. */
export const losePrimary =
  (layout: ClusterLayout, engine: string): Kill =>
  async (primary, client) => {
    await killPrimaryProcess(layout, engine)(primary, client);
    await deletePrimaryPod(primary, client);
  };
