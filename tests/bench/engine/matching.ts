import { type Contender, type ContenderName, contenders } from "./contenders.ts";
import { mixedWorkload, oneLevel } from "./workload.ts";

export interface MatchFigures {
  readonly opsPerSec: number;
  readonly p99Us: number;
  readonly sweep10kMs: number;
}

export interface MatchLoad {
  readonly operations: number;
  /** Operations before the measured ones: they fill the book and let the compiler finish. */
  readonly warmUp: number;
  /** Orders at the price that is swept. */
  readonly swept: number;
}

export const matchLoad: MatchLoad = { operations: 500_000, warmUp: 200_000, swept: 10_000 };

/** Each figure from a book of its own: throughput without a clock between the operations, then latency with one. */
export const measureMatching = (name: ContenderName, load: MatchLoad = matchLoad): MatchFigures => {
  const create = contenders[name];
  return { opsPerSec: throughput(create(), load), p99Us: p99(create(), load), sweep10kMs: sweep(create(), load) };
};

const warmedUp = (contender: Contender, { warmUp, operations }: MatchLoad): (() => void)[] => {
  const steps = contender.prepare(mixedWorkload(warmUp + operations, 1));
  for (const step of steps.slice(0, warmUp)) step();
  return steps.slice(warmUp);
};

const throughput = (contender: Contender, load: MatchLoad): number => {
  const steps = warmedUp(contender, load);
  const start = performance.now();
  for (const step of steps) step();
  return steps.length / ((performance.now() - start) / 1_000);
};

const p99 = (contender: Contender, load: MatchLoad): number => {
  const steps = warmedUp(contender, load);
  const times = new Float64Array(steps.length);
  let index = 0;
  for (const step of steps) {
    const start = performance.now();
    step();
    times[index++] = performance.now() - start;
  }
  return (times.sort()[Math.floor(times.length * 0.99)] ?? 0) * 1_000;
};

const sweep = (contender: Contender, { swept }: MatchLoad): number => {
  const operations = oneLevel(swept);
  const steps = contender.prepare([...operations, { kind: "market", id: "sweep", side: "buy", quantity: swept }]);
  const last = steps.pop();
  for (const step of steps) step();
  const start = performance.now();
  last?.();
  return performance.now() - start;
};
