/** The Kubernetes library beside @kubernetes/client-node: both do the same in the same run. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { changeCount, type Figures } from "./contenderProcess.ts";
import { type ContenderName } from "./contenders.ts";
import type { ChangeOrder, PodServer } from "./podServer.ts";
import { type BenchReport, compare, type Measure } from "./report.ts";

/** Each contender is first in every other, so that whatever else the machine does falls on both. */
const rounds = 5;
const contenderNames = ["ours", "clientNode"] as const;
const runDeadlineMs = 120_000;

const measures: readonly (Measure & { readonly of: (figures: Figures) => number })[] = [
  { name: "list-10k-pods", unit: "ms", better: "less", of: (figures) => figures.listMs },
  { name: "list-cpu", unit: "ms", better: "less", of: (figures) => figures.listCpuMs },
  { name: "longest-block", unit: "ms", better: "less", of: (figures) => figures.longestBlockMs },
  { name: "heap-10k-pods", unit: "MB", better: "less", of: (figures) => figures.heapMb },
  { name: "requests-per-second", unit: "1/s", better: "more", of: (figures) => figures.requestsPerSecond },
  { name: "event-cpu", unit: "us", better: "less", of: (figures) => figures.eventCpuUs },
  { name: "event-latency-p50", unit: "ms", better: "less", of: (figures) => figures.latencyP50Ms },
  { name: "event-latency-p99", unit: "ms", better: "less", of: (figures) => figures.latencyP99Ms },
];

/** Takes about two minutes. Throws when a contender does not finish. */
export const benchKube = async (): Promise<BenchReport> => {
  const server = fork(scriptNamed("podServer.ts"));
  try {
    const podServer = (await messageOf(server)) as PodServer;
    const figures: Record<ContenderName, Figures[]> = { ours: [], clientNode: [] };
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? contenderNames : contenderNames.toReversed();
      for (const [name, found] of await runRound(order, podServer, server)) figures[name].push(found);
    }
    return {
      results: measures.map((measure) =>
        compare(measure, figures.ours.map(measure.of), figures.clientNode.map(measure.of)),
      ),
    };
  } finally {
    server.kill();
  }
};

/** They list and make requests one after the other, and follow the same changes together. */
const runRound = async (
  order: readonly ContenderName[],
  { url, ca }: PodServer,
  server: ChildProcess,
): Promise<[ContenderName, Figures][]> => {
  const contenders: [ContenderName, ChildProcess][] = [];
  try {
    for (const name of order) {
      const contender = fork(scriptNamed("contenderProcess.ts"), [name, url, ca], { execArgv: ["--expose-gc"] });
      contenders.push([name, contender]);
      await messageOf(contender);
    }
    server.send({ changes: changeCount, watches: order.length } satisfies ChangeOrder);
    await Promise.all(contenders.map(([, contender]) => messageOf(contender)));
    const figures: [ContenderName, Figures][] = [];
    for (const [name, contender] of contenders) {
      contender.send("make your requests");
      figures.push([name, ((await messageOf(contender)) as { readonly figures: Figures }).figures]);
    }
    return figures;
  } finally {
    for (const [, contender] of contenders) contender.kill();
  }
};

/** The next message of a child. Throws when it ends or takes too long instead. */
const messageOf = async (child: ChildProcess): Promise<unknown> => {
  const settled = new AbortController();
  const signal = AbortSignal.any([settled.signal, AbortSignal.timeout(runDeadlineMs)]);
  const ended = async (): Promise<never> => {
    const [code] = (await once(child, "exit", { signal })) as [number | null];
    throw new Error(`${child.spawnargs.slice(1).join(" ")} ended with ${code ?? "a signal"}`);
  };
  try {
    const [message] = (await Promise.race([once(child, "message", { signal }), ended()])) as [unknown];
    return message;
  } finally {
    settled.abort();
  }
};

const scriptNamed = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
