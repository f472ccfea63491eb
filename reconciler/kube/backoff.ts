/** Growing waits between tries. */
import type { Clock } from "./clock.ts";

/** A random number in [0, 1). */
export type Random = () => number;

export interface BackoffOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly firstMs: number;
  readonly mostMs: number;
  /** After this long without a failure the next one starts from `firstMs` again. */
  readonly resetMs: number;
}

export interface Backoff {
  /** The wait before the next try: from a step that doubles each time, up to twice that, at random. */
  nextMs(): number;
}

/** The randomness keeps clients that lost the same server from coming back at the same moment. */
export const createBackoff = ({ clock, random, firstMs, mostMs, resetMs }: BackoffOptions): Backoff => {
  let step = firstMs;
  let lastAt = clock.now();
  return {
    nextMs() {
      const now = clock.now();
      if (now - lastAt > resetMs) step = firstMs;
      lastAt = now;
      const wait = step * (1 + random());
      step = Math.min(step * 2, mostMs);
      return wait;
    },
  };
};
