/** Time as everything in this library sees it: injected, so that a test can own it. */

/** A pending callback. */
export interface Timer {
  /** Forgets the callback; harmless once it has run. */
  cancel(): void;
}

export interface Clock {
  /** Monotonic milliseconds since an arbitrary start. All durations and deadlines are measured by it. */
  now(): number;
  /** Wall-clock time, only ever to be shown to people or written into an object. */
  wall(): Date;
  /** Runs `callback` once, `ms` from now. */
  setTimeout(callback: () => void, ms: number): Timer;
}

/** setTimeout wraps a longer delay to 1 ms. */
const longestDelay = 2 ** 31 - 1;

/** The machine's own clocks. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => new Date(),
  setTimeout: (callback, ms) => {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), longestDelay));
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Resolves after `ms`, or as soon as `signal` aborts: the caller looks at the signal to tell which. */
export const sleep = (clock: Clock, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const finish = () => {
      timer.cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = clock.setTimeout(finish, ms);
    signal?.addEventListener("abort", finish, { once: true });
  });
