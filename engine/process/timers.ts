/** Ends what a timer was to do. */
export type CancelTimer = () => void;

/** What the engine lets happen later. Injected, so that a simulation decides when that is. */
export interface Timers {
  after(milliseconds: number, step: () => void): CancelTimer;
  every(milliseconds: number, step: () => void): CancelTimer;
  /** Once the events that are ready now have had their turn. */
  soon(step: () => void): void;
}

export const systemTimers: Timers = {
  after(milliseconds, step) {
    const timer = setTimeout(step, milliseconds);
    return () => clearTimeout(timer);
  },
  every(milliseconds, step) {
    const timer = setInterval(step, milliseconds);
    return () => clearInterval(timer);
  },
  soon(step) {
    setImmediate(step);
  },
};
