/** `./bench failover`: how long clients wait when a primary is lost, in every way that can be made to happen here. */
import { dirname } from "node:path";
import { clusterLayout } from "../../../local/cluster/layout.ts";
import { loadClusterAccess } from "../../../reconciler/kube/access.ts";
import { createKubeClient } from "../../../reconciler/kube/client.ts";
import type { TestCluster } from "../../cluster/testCluster.ts";
import { bringUpPlatform } from "../../demo/demo.ts";
import { diskStall } from "./diskStall.ts";
import type { FailoverEvent } from "./event.ts";
import { type GapSummary, gapText } from "./gaps.ts";
import { nodeFreeze } from "./nodeFreeze.ts";
import { partitionPrimary } from "./partition.ts";
import { type PeersReport, runPeers } from "./peers.ts";
import { podDelete, podForceDelete, processKill, switchover } from "./podEvents.ts";
import { runSeries, type SeriesResult } from "./series.ts";

export const failoverEvents: readonly FailoverEvent[] = [
  processKill,
  podDelete,
  podForceDelete,
  switchover,
  nodeFreeze,
  partitionPrimary,
  diskStall,
];

export interface FailoverBenchOptions {
  /** Of each event. */
  readonly runs: number;
  /** Names among {@link failoverEvents}; empty = all. */
  readonly only: readonly string[];
  /** Folder with the scripts that measure PostgreSQL with Patroni and Redis Sentinel on this machine. */
  readonly peers: string | undefined;
  readonly log: (message: string) => void;
}

export interface FailoverBenchReport {
  readonly results: readonly SeriesResult[];
  /** Events whose series broke off, and why. */
  readonly failed: readonly { readonly event: string; readonly error: string }[];
  readonly peers: PeersReport | null;
}

const repository = dirname(dirname(dirname(import.meta.dirname)));

/** Leaves the embedded cluster running, as `./demo` does. */
export const benchFailover = async (options: FailoverBenchOptions): Promise<FailoverBenchReport> => {
  const { log, only, runs } = options;
  const layout = clusterLayout("dev");
  const place = await bringUpPlatform(repository, { kind: "embedded", cluster: "dev" }, log);
  const access = await loadClusterAccess({ kubeconfig: place.kubeconfig });
  const client = createKubeClient({ access, userAgent: "enginekeeper-bench" });
  const cluster: TestCluster = {
    access,
    client,
    namespace: "trading",
    operatorNamespace: "enginekeeper-system",
    image: place.engineImage,
    storageClassName: place.storageClass,
  };
  const results: SeriesResult[] = [];
  const failed: { event: string; error: string }[] = [];
  try {
    for (const event of failoverEvents) {
      if (only.length > 0 && !only.includes(event.name)) continue;
      log(`${event.name}: ${event.title}`);
      try {
        results.push(await runSeries(event, { cluster, layout, runs, log, random: Math.random }));
      } catch (error) {
        // The others are worth knowing all the same; the exit code tells of this one.
        failed.push({ event: event.name, error: error instanceof Error ? error.message : String(error) });
        log(`${event.name} broke off: ${failed.at(-1)?.error ?? ""}`);
      }
    }
  } finally {
    await client.close();
  }
  const peers = options.peers === undefined ? null : await runPeers(options.peers, log);
  return { results, failed, peers };
};

/** The report for people. */
export const failoverTable = ({ results, failed, peers }: FailoverBenchReport): string => {
  const cell = (gap: GapSummary | null): string => (gap === null ? "not seen" : gapText(gap));
  const rows = results.map(
    ({ event, runs, gapMs, gapViaServiceMs, lostAcked, dualAcks, extraElections }) =>
      `${event.padEnd(18)} ${String(runs).padStart(3)} runs  gap ${cell(gapMs).padEnd(22)} via Service ${cell(gapViaServiceMs).padEnd(22)} lost ${lostAcked} dual ${dualAcks} extra elections ${extraElections}`,
  );
  const broken = failed.map(({ event, error }) => `${event.padEnd(18)} broke off: ${error}`);
  return `${["p50/p99/max in ms", ...rows, ...broken, ...(peers?.lines ?? [])].join("\n")}\n`;
};
