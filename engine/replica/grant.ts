import type { Clock } from "../process/clock.ts";

/**
 * Permission to acknowledge for a time. A primary whose orders need no standby has nobody on its data path who could
 * refuse it: only the end of its grant stops it when it is cut off and another one is made primary.
 */
export class Grant {
  readonly #bootClock: Clock;
  #validUntil = Number.NEGATIVE_INFINITY;

  /** @param bootClock goes on while the machine is suspended: a primary must not sleep through the end of its grant. */
  constructor(bootClock: Clock) {
    this.#bootClock = bootClock;
  }

  /** Milliseconds until the end; 0 once it is over, or when there was none. */
  get remainingMs(): number {
    return Math.max(0, this.#validUntil - this.#bootClock());
  }

  get valid(): boolean {
    return this.#validUntil > this.#bootClock();
  }

  /** Valid for `ttlMs` from now. A shorter grant ends a longer one sooner. */
  renew(ttlMs: number): void {
    this.#validUntil = this.#bootClock() + ttlMs;
  }
}
