import type { Clock } from "./clock.ts";
import type { Random } from "./seededRandom.ts";

/** Between two attempts of the worker that searches, milliseconds. */
const probePauseMs = { min: 5, max: 20 };
/** A waiting worker tries for itself after this time: its order may fare better than the searcher's. */
const longestWaitMs = 250;

/**
 * Lets one worker look for the primary while the others wait for what it finds. If all
 * of them searched, their attempts would load the very machines that elect a new primary.
 */
export class LeaderSearch {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #waiting = new Set<AbortController>();
  #searcher: object | null = null;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Resolves when `worker` should make its next attempt; `fruitless` counts its failed ones for this order. */
  async beforeRetry(worker: object, fruitless: number): Promise<void> {
    // The next replica right away: usually it is, or knows, the primary.
    if (fruitless <= 1) return;
    this.#searcher ??= worker;
    if (this.#searcher === worker) {
      await this.#clock.sleep(probePauseMs.min + this.#random() * (probePauseMs.max - probePauseMs.min));
      return;
    }
    const found = new AbortController();
    this.#waiting.add(found);
    await this.#clock.sleep(longestWaitMs, found.signal);
    this.#waiting.delete(found);
  }

  /** Some worker's order was acknowledged: everybody may go on. */
  found(): void {
    this.#searcher = null;
    for (const waiting of this.#waiting) waiting.abort();
  }

  /** `worker` gives its order up; another may search. */
  leave(worker: object): void {
    if (this.#searcher === worker) this.#searcher = null;
  }
}
