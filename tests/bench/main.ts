/** The bench command. */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { benchKube } from "./kube.ts";
import type { BenchReport } from "./report.ts";
import { tableOf } from "./report.ts";

const usage = `usage: ./bench NAME [--json FILE]

  kube    the Kubernetes library beside @kubernetes/client-node: load of 10,000 Pods, requests, event latency

  --json FILE   write {"results":[{"measure","ours","clientNode","ratio"}]}; a ratio over 1 = ours is better
`;

const benches: Readonly<Record<string, () => Promise<BenchReport>>> = { kube: benchKube };

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
  const report = await bench();
  process.stdout.write(tableOf(report));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`);
  return 0;
};

process.exitCode = await main();
