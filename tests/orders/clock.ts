/** Time as the order client sees it. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Resolves after `ms`, or as soon as `wake` aborts; never rejects. */
  sleep(ms: number, wake?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, wake) =>
    new Promise((resolve) => {
      if (wake?.aborted === true) {
        resolve();
        return;
      }
      const timer = setTimeout(done, ms);
      wake?.addEventListener("abort", done);
      function done(): void {
        clearTimeout(timer);
        wake?.removeEventListener("abort", done);
        resolve();
      }
    }),
};
