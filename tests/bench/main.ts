/** The bench command. */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { benchEngine, linesOf } from "./engine/main.ts";
import { benchFailover, failoverEvents, failoverTable } from "./failover/main.ts";
import { benchKube } from "./kube.ts";
import { tableOf } from "./report.ts";

const usage = `usage: ./bench NAME [--json FILE]
       ./bench failover [--json FILE] [--runs N] [--event NAME]... [--peers FOLDER]

  kube      the Kubernetes library beside @kubernetes/client-node: load of 10,000 Pods, requests, event latency
  engine    the reference engine: matching beside the best order book on npm, memory, acknowledged orders
  failover  how long clients wait when a primary is lost; on the embedded cluster, which is started and left running

  --json FILE      write the figures; for kube {"results":[{"measure","ours","clientNode","ratio"}]}; a ratio over 1 = ours is better
  --runs N         failovers of each event; default 30, which takes about an hour for all
  --event NAME     only this event; ${failoverEvents.map(({ name }) => name).join(", ")}
  --peers FOLDER   then also run the program "run" in FOLDER, which measures PostgreSQL with Patroni and Redis Sentinel here

exit code: 0 measured; 1 something broke off; 64 bad usage
`;

interface Figures {
  readonly json: unknown;
  readonly text: string;
  /** A part that could not be measured is told, and the rest is kept. */
  readonly incomplete?: boolean;
}

interface FailoverOptions {
  readonly runs: number;
  readonly event: readonly string[];
  readonly peers: string | undefined;
}

const benches: Readonly<Record<string, (options: FailoverOptions) => Promise<Figures>>> = {
  kube: async () => {
    const report = await benchKube();
    return { json: report, text: tableOf(report) };
  },
  engine: async () => {
    const figures = await benchEngine();
    return { json: figures, text: linesOf(figures) };
  },
  failover: async ({ runs, event, peers }) => {
    const log = (message: string): void => void process.stderr.write(`${message}\n`);
    const report = await benchFailover({ runs, only: event, peers, log });
    return { json: report, text: failoverTable(report), incomplete: report.failed.length > 0 };
  },
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    options: {
      json: { type: "string" },
      runs: { type: "string", default: "30" },
      event: { type: "string", multiple: true, default: [] },
      peers: { type: "string" },
      help: { type: "boolean" },
    },
    allowPositionals: true,
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  const [name = "", ...rest] = positionals;
  const bench = benches[name];
  if (bench === undefined || rest.length > 0) {
    process.stderr.write(`${name === "" ? "name a bench" : `no such bench: ${positionals.join(" ")}`}\n\n${usage}`);
    return 64;
  }
  const runs = Number(values.runs);
  const unknown = values.event.find((event) => !failoverEvents.some((known) => known.name === event));
  if (!Number.isInteger(runs) || runs < 1 || unknown !== undefined) {
    process.stderr.write(
      `${unknown === undefined ? "--runs must be 1 or more" : `no such event: ${unknown}`}\n\n${usage}`,
    );
    return 64;
  }
  const { json, text, incomplete = false } = await bench({ runs, event: values.event, peers: values.peers });
  process.stdout.write(text);
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(json, null, 2)}\n`);
  return incomplete ? 1 : 0;
};

process.exitCode = await main();
