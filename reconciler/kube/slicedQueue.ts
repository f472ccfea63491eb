/** Work in order, at once when there is little of it, and in short slices when there is much. */
import { setImmediate } from "node:timers";

export interface SlicedQueueOptions<T> {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** The longest that other work on the event loop is made to wait. */
  readonly sliceMs: number;
  /** Must not throw. */
  readonly run: (item: T) => void;
}

export interface SlicedQueue<T> {
  /** Runs the items after all pushed before: right now if nothing is waiting and a slice is enough. */
  push(items: readonly T[]): void;
}

/** Reading the clock for each item would cost more than most items do. */
const itemsPerLook = 16;

export const createSlicedQueue = <T>({ now, sliceMs, run }: SlicedQueueOptions<T>): SlicedQueue<T> => {
  let waiting: T[] = [];
  let next = 0;
  /** A slice is running, or is to run. */
  let busy = false;

  const runSlice = (): void => {
    const until = now() + sliceMs;
    while (next < waiting.length) {
      for (const item of waiting.slice(next, next + itemsPerLook)) run(item);
      next = Math.min(next + itemsPerLook, waiting.length);
      if (next < waiting.length && now() >= until) {
        setImmediate(runSlice);
        return;
      }
    }
    waiting = [];
    next = 0;
    busy = false;
  };

  return {
    push(items) {
      for (const item of items) waiting.push(item);
      if (busy) return;
      busy = true;
      runSlice();
    },
  };
};
