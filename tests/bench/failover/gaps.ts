import type { EpochChange } from "../../orders/check.ts";
import { percentile } from "../report.ts";

/** Milliseconds. */
export interface GapSummary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Where a run began and ended, by the engine's epochs. */
export interface RunEpochs {
  readonly before: number;
  readonly after: number;
}

/**
 * The pause of each run as one client saw it: the longest among its changes of epoch. A run in which the client saw no
 * change is told as undefined: it cannot be measured, and must not pass for a short pause.
 */
export const gapsOf = (runs: readonly RunEpochs[], changes: readonly EpochChange[]): readonly (number | undefined)[] =>
  runs.map(({ before, after }) => {
    const gaps = changes.filter(({ to }) => to > before && to <= after).map(({ gapMs }) => gapMs);
    return gaps.length === 0 ? undefined : Math.max(...gaps);
  });

/** Undefined without a single gap. */
export const summarize = (gaps: readonly (number | undefined)[]): GapSummary | undefined => {
  const seen = gaps.filter((gap) => gap !== undefined);
  if (seen.length === 0) return undefined;
  const at = (share: number): number => Math.round(percentile(seen, share));
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
};

export const gapText = ({ p50, p99, max }: GapSummary): string => `${p50}/${p99}/${max}`;
