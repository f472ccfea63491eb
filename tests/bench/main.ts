/** The bench command. */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { benchEngine, linesOf } from "./engine/main.ts";
import { benchKube } from "./kube.ts";
import { tableOf } from "./report.ts";

const usage = `usage: ./bench NAME [--json FILE]

  kube    the Kubernetes library beside @kubernetes/client-node: load of 10,000 Pods, requests, event latency
  engine  the reference engine: matching beside the best order book on npm, memory, acknowledged orders

  --json FILE   write the figures; for kube {"results":[{"measure","ours","clientNode","ratio"}]}; a ratio over 1 = ours is better
`;

interface Figures {
  readonly json: unknown;
  readonly text: string;
}

const benches: Readonly<Record<string, () => Promise<Figures>>> = {
  kube: async () => {
    const report = await benchKube();
    return { json: report, text: tableOf(report) };
  },
  engine: async () => {
    const figures = await benchEngine();
    return { json: figures, text: linesOf(figures) };
  },
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    options: { json: { type: "string" }, help: { type: "boolean" } },
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
  const { json, text } = await bench();
  process.stdout.write(text);
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(json, null, 2)}\n`);
  return 0;
};

process.exitCode = await main();
