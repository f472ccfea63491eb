/** What stops a process from writing once another may lead, even if all its timers were late. */
import type { Clock } from "./clock.ts";
import { ApiError } from "./errors.ts";

/** Permission to write, for a time. */
export interface WriteFence {
  /** Milliseconds for which writing is still allowed; 0 or less = not allowed. Computed anew at each call. */
  remainingMs(): number;
}

/** A fence that its owner moves forward; closed at first. */
export interface MovableFence extends WriteFence {
  /** Allows writing until the clock reads `at`. */
  allowUntil(at: number): void;
  close(): void;
}

export const createFence = (clock: Clock): MovableFence => {
  let until = Number.NEGATIVE_INFINITY;
  return {
    remainingMs: () => until - clock.now(),
    allowUntil(at) {
      until = at;
    },
    close() {
      until = Number.NEGATIVE_INFINITY;
    },
  };
};

/** The error for a write that `fence` does not allow now, if it does not. */
export const refusalBy = (fence: WriteFence): ApiError | undefined =>
  fence.remainingMs() > 0
    ? undefined
    : new ApiError({ kind: "fenced", message: "not written: this process may no longer be the leader" });
