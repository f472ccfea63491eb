import type { Clock } from "./clock.ts";

/**
 * Spreads orders evenly over time, whichever worker sends them. What an outage held up is
 * not made up for: a burst right after a failover would measure the burst.
 */
export class Pacer {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  #nextMs = 0;

  /** `ratePerSecond` 0 means as fast as the answers come. */
  constructor(ratePerSecond: number, clock: Clock) {
    this.#intervalMs = ratePerSecond === 0 ? 0 : 1000 / ratePerSecond;
    this.#clock = clock;
  }

  /** Resolves when the caller may send one order, or when `wake` aborts. */
  async turn(wake: AbortSignal): Promise<void> {
    if (this.#intervalMs === 0) return;
    const now = this.#clock.now();
    const at = Math.max(now, this.#nextMs);
    this.#nextMs = at + this.#intervalMs;
    if (at > now) await this.#clock.sleep(at - now, wake);
  }
}
