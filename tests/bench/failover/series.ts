/** Many failovers of one kind on one engine, and what its clients saw of them. */
import type { ClusterLayout } from "../../../local/cluster/layout.ts";
import { pods } from "../../../reconciler/kube/index.ts";
import { createTradingEngine, removeEngine, type TestCluster } from "../../cluster/testCluster.ts";
import { type HistoryReport, keepsPromise } from "../../orders/check.ts";
import { type EngineRef, waitForEngine, waitUntilSettled } from "../../support/engines.ts";
import { type OrderClientRun, runOrderClient } from "../../support/orderClientRun.ts";
import { type FailoverEvent, nothingToHeal } from "./event.ts";
import { type GapSummary, gapsOf, type RunEpochs, summarize } from "./gaps.ts";

export interface SeriesOptions {
  readonly cluster: TestCluster;
  readonly layout: ClusterLayout;
  readonly runs: number;
  readonly log: (message: string) => void;
  /** For the moment of each injection. */
  readonly random: () => number;
}

/** One entry of the report; names are stable. */
export interface SeriesResult {
  readonly event: string;
  readonly runs: number;
  /** With our client, which knows the replicas and follows the hint of a 421. Null when no run was seen. */
  readonly gapMs: GapSummary | null;
  /** With a client that only knows the ClusterIP. */
  readonly gapViaServiceMs: GapSummary | null;
  readonly acked: number;
  readonly lostAcked: number;
  readonly dualAcks: number;
  /** Elections beyond one a run. */
  readonly extraElections: number;
  /** What the history of either client violated, in sentences. */
  readonly violations: readonly string[];
}

const deadlines = { settleMs: 180_000, acksMs: 60_000, electMs: 60_000 } as const;
/** Acknowledgements of both clients before an injection and in the new epoch. */
const acks = 100;
/** Injections come at any moment of the daemon's and the kubelet's own rhythms. */
const mostWaitMs = 1_000;

export const runSeries = async (event: FailoverEvent, options: SeriesOptions): Promise<SeriesResult> => {
  const { cluster, layout } = options;
  const cleanUp = (await event.prepare?.(layout, cluster)) ?? nothingToHeal;
  const engine = await createTradingEngine(
    cluster,
    `bench-${event.name}`,
    event.storageClassName === undefined ? {} : { storageClassName: event.storageClassName },
  );
  const clients: OrderClientRun[] = [];
  try {
    for (const [index, via] of (["replicas", "service"] as const).entries()) {
      clients.push(await runOrderClient({ ...engine, image: cluster.image, via, ratePerSecond: 200, seed: index + 1 }));
    }
    const epochs: RunEpochs[] = [];
    for (let number = 1; number <= options.runs; number += 1) {
      epochs.push(await runOnce(event, engine, clients, options));
      options.log(`${event.name} ${number}/${options.runs}: epoch ${epochs.at(-1)?.after ?? 0}`);
    }
    return await judge(event, engine, clients, epochs);
  } finally {
    for (const client of clients) await client.close();
    await removeEngine(engine);
    await cleanUp();
  }
};

const runOnce = async (
  event: FailoverEvent,
  engine: EngineRef,
  clients: readonly OrderClientRun[],
  { layout, random }: SeriesOptions,
): Promise<RunEpochs> => {
  const { client, namespace } = engine;
  const settled = await waitUntilSettled(engine, deadlines.settleMs);
  const { primary: name = "", epoch: before = 0 } = settled.status ?? {};
  await everyone(clients, `${acks} acknowledgements in epoch ${before}`, acksSince(before));
  await new Promise((resolve) => setTimeout(resolve, random() * mostWaitMs));

  const clientPods = await Promise.all(clients.map(({ pod }) => client.get(pods, { namespace, name: pod })));
  const primary = await client.get(pods, { namespace, name });
  const heal = await event.inject({ engine, layout, primary, clients: clientPods });
  try {
    await waitForEngine(engine, {
      what: `a primary after ${event.title}`,
      deadlineMs: deadlines.electMs,
      until: ({ status }) => (status?.epoch ?? 0) > before && (status?.primary ?? "") !== "",
    });
    await everyone(clients, `${acks} acknowledgements after epoch ${before}`, acksSince(before + 1));
  } finally {
    await heal();
  }
  const after = await waitUntilSettled(engine, deadlines.settleMs);
  return { before, after: after.status?.epoch ?? before };
};

type Seen = Parameters<Parameters<OrderClientRun["waitFor"]>[2]>[0];

const acksSince =
  (epoch: number) =>
  ({ epochs }: Seen): boolean =>
    epochs.some((tally) => tally.epoch >= epoch && tally.acks >= acks);

const everyone = (
  clients: readonly OrderClientRun[],
  what: string,
  until: (summary: Seen) => boolean,
): Promise<unknown> => Promise.all(clients.map((client) => client.waitFor(what, deadlines.acksMs, until)));

const judge = async (
  event: FailoverEvent,
  engine: EngineRef,
  [direct, viaService]: readonly OrderClientRun[],
  epochs: readonly RunEpochs[],
): Promise<SeriesResult> => {
  if (direct === undefined || viaService === undefined) throw new Error("two clients were started");
  const { status } = await waitUntilSettled(engine, deadlines.settleMs);
  const reports: HistoryReport[] = [];
  for (const client of [direct, viaService]) {
    await client.stop();
    reports.push(await client.check(status?.primary ?? ""));
  }
  const sum = (count: (report: HistoryReport) => number): number =>
    reports.reduce((total, report) => total + count(report), 0);
  const gapOf = (report: HistoryReport | undefined): GapSummary | null =>
    summarize(gapsOf(epochs, report?.epochChanges ?? [])) ?? null;
  return {
    event: event.name,
    runs: epochs.length,
    gapMs: gapOf(reports[0]),
    gapViaServiceMs: gapOf(reports[1]),
    acked: sum(({ acked }) => acked),
    lostAcked: sum(({ lostAcked }) => lostAcked),
    dualAcks: sum(({ dualAcks }) => dualAcks),
    extraElections: epochs.reduce((extra, { before, after }) => extra + after - before - 1, 0),
    violations: reports.flatMap((report) => (keepsPromise(report) ? [] : report.violations)),
  };
};
