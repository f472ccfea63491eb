/** The reference engine: matching beside the best order book on npm, and orders acknowledged by a whole group. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { median } from "../report.ts";
import { measureAcks } from "./acks.ts";
import type { ContenderName } from "./contenders.ts";
import type { MatchFigures } from "./matching.ts";

/** In turn, so that whatever else the machine does falls on both. */
const rounds = 3;

/** Takes several minutes, most of them for one sweep by the npm book. */
export const benchEngine = async (): Promise<Readonly<Record<string, unknown>>> => {
  const ours: MatchFigures[] = [];
  const npmBook: MatchFigures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await matching("ours"));
    npmBook.push(await matching("npmBook"));
  }
  const [us, them] = [medians(ours), medians(npmBook)];
  const acks = await measureAcks();
  return {
    matchOpsPerSec: Math.round(us.opsPerSec),
    matchP99Us: rounded(us.p99Us),
    sweep10kMs: rounded(us.sweep10kMs),
    npmBook: {
      matchOpsPerSec: Math.round(them.opsPerSec),
      matchP99Us: rounded(them.p99Us),
      sweep10kMs: rounded(them.sweep10kMs),
    },
    /** Over 1 = ours is better. */
    ratio: {
      matchOpsPerSec: rounded(us.opsPerSec / them.opsPerSec),
      matchP99Us: rounded(them.p99Us / us.p99Us),
      sweep10kMs: rounded(them.sweep10kMs / us.sweep10kMs),
    },
    millionOrdersMiB: Math.round(await resultOf<number>("memory.ts", [])),
    ackedPerSec: Math.round(acks.ackedPerSec),
    ackP50Ms: rounded(acks.ackP50Ms),
    ackP99Ms: rounded(acks.ackP99Ms),
  };
};

/** One line for each figure. */
export const linesOf = (figures: Readonly<Record<string, unknown>>, prefix = ""): string =>
  Object.entries(figures)
    .map(([name, value]) =>
      typeof value === "object" && value !== null
        ? linesOf(value as Readonly<Record<string, unknown>>, `${prefix}${name}.`)
        : `${(prefix + name).padEnd(28)} ${String(value)}\n`,
    )
    .join("");

const matching = (name: ContenderName): Promise<MatchFigures> => resultOf("matchingProcess.ts", [name]);

/** What a script of this folder sends. Throws when it ends without. */
const resultOf = async <Result>(script: string, args: readonly string[]): Promise<Result> => {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, args, { execArgv: ["--expose-gc", "--max-old-space-size=3072"] });
  let result: { readonly value: Result } | null = null;
  child.on("message", (value) => (result = { value: value as Result }));
  const [code] = (await once(child, "close")) as [number | null];
  const sent = result as { readonly value: Result } | null;
  if (code === 0 && sent !== null) return sent.value;
  throw new Error(`${[script, ...args].join(" ")} ended with ${code ?? "a signal"}`);
};

const medians = (figures: readonly MatchFigures[]): MatchFigures => ({
  opsPerSec: median(figures.map(({ opsPerSec }) => opsPerSec)),
  p99Us: median(figures.map(({ p99Us }) => p99Us)),
  sweep10kMs: median(figures.map(({ sweep10kMs }) => sweep10kMs)),
});

const rounded = (value: number): number => Number(value.toPrecision(3));
