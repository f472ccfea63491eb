import type { ElectionCause } from "../decide/index.ts";

const firstWaitMs = 250;
/** Also the longest that a failover waits once an API server that was away is back. */
const lastWaitMs = 1_000;

/**
 * The distance between tries of an election that cannot be ended: each try wakes the loop itself, by the promises that
 * it changes. Another cause is never held up by it: a planned move that failed must not delay a proven death.
 */
export class ElectionPacing {
  #failed: { readonly cause: ElectionCause; readonly at: number; readonly waitMs: number } | undefined;

  /** Milliseconds until an election for this cause may begin; 0 = now. */
  delayOf(cause: ElectionCause, now: number): number {
    if (this.#failed?.cause !== cause) return 0;
    return Math.max(0, this.#failed.at + this.#failed.waitMs - now);
  }

  /** @returns milliseconds until the next try for the same cause. */
  failed(cause: ElectionCause, now: number): number {
    const last = this.#failed?.cause === cause ? this.#failed.waitMs : undefined;
    const waitMs = last === undefined ? firstWaitMs : Math.min(last * 2, lastWaitMs);
    this.#failed = { cause, at: now, waitMs };
    return waitMs;
  }

  succeeded(): void {
    this.#failed = undefined;
  }
}
