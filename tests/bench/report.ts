/** What a bench found out, for machines and for people. */

export interface BenchResult {
  readonly measure: string;
  readonly unit: string;
  readonly ours: number;
  readonly clientNode: number;
  /** Over 1 = ours is better, whichever way the measure counts. */
  readonly ratio: number;
}

export interface BenchReport {
  readonly results: readonly BenchResult[];
}

export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly better: "less" | "more";
}

/** Compares the medians of several runs. */
export const compare = (measure: Measure, ours: readonly number[], clientNode: readonly number[]): BenchResult => {
  const [us, them] = [median(ours), median(clientNode)];
  return {
    measure: measure.name,
    unit: measure.unit,
    ours: rounded(us),
    clientNode: rounded(them),
    ratio: rounded(measure.better === "less" ? them / us : us / them),
  };
};

/** The middle value; the mean of the two in the middle when their number is even. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new RangeError("no values");
  return (upper + lower) / 2;
};

/** The value that `share` of all values do not exceed. */
export const percentile = (values: readonly number[], share: number): number => {
  const value = values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)];
  if (value === undefined) throw new RangeError("no values");
  return value;
};

const rounded = (value: number): number => Number(value.toPrecision(4));

export const tableOf = ({ results }: BenchReport): string => {
  const rows = [
    ["measure", "unit", "ours", "client-node", "ratio"],
    ...results.map(({ measure, unit, ours, clientNode, ratio }) =>
      [measure, unit, ours, clientNode, `${ratio}x`].map(String),
    ),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
};
