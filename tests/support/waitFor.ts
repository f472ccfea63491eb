import { type Clock, systemClock } from "../orders/clock.ts";

export interface Wait<T> {
  /** Completes "waiting for ...". */
  readonly what: string;
  readonly deadlineMs: number;
  /** Between two looks; default 200. */
  readonly everyMs?: number;
  /** May throw while things are on their way; the last error is told when time is up. */
  look(): Promise<T>;
  until(seen: T): boolean;
  /** What of `seen` tells a person why it is not enough; default: all of it. */
  describe?(seen: T): unknown;
}

/**
 * Looks until it likes what it sees, and answers that.
 *
 * @throws Error that says what was waited for, how long, and what was seen last.
 */
export async function waitFor<T>(wait: Wait<T>, clock: Clock = systemClock): Promise<T> {
  const endsAt = clock.now() + wait.deadlineMs;
  for (;;) {
    let lastSeen: string;
    try {
      const seen = await wait.look();
      if (wait.until(seen)) return seen;
      lastSeen = JSON.stringify(wait.describe?.(seen) ?? seen);
    } catch (error) {
      lastSeen = error instanceof Error ? error.message : String(error);
    }
    if (clock.now() >= endsAt) {
      throw new Error(`waiting for ${wait.what}: not within ${wait.deadlineMs / 1000} s; last seen: ${lastSeen}`);
    }
    await clock.sleep(wait.everyMs ?? 200);
  }
}
