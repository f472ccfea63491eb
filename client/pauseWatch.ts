/** A stretch of time in which requests waited and none was answered. */
export interface Pause {
  /** On the client's clock, in milliseconds. */
  readonly from: number;
  readonly durationMs: number;
  /** Epochs before and after: different when a failover or handover was the reason. */
  readonly epochBefore: number;
  readonly epochAfter: number;
}

/** Notices pauses of trading as a client sees them. Time in which nothing was asked is no pause. */
export class PauseWatch {
  readonly #thresholdMs: number;
  readonly #onPause: (pause: Pause) => void;
  #progressAt: number | null = null;
  #epoch = 0;
  count = 0;
  longestMs = 0;
  totalMs = 0;

  constructor(thresholdMs: number, onPause: (pause: Pause) => void) {
    this.#thresholdMs = thresholdMs;
    this.#onPause = onPause;
  }

  /** A request begins to wait at `now`. */
  asked(now: number): void {
    this.#progressAt ??= now;
  }

  /** A request was acknowledged in `epoch`; `waiting` others are not. */
  acknowledged(now: number, epoch: number, waiting: number): void {
    const from = this.#progressAt ?? now;
    const durationMs = now - from;
    if (durationMs >= this.#thresholdMs) {
      this.count += 1;
      this.totalMs += durationMs;
      this.longestMs = Math.max(this.longestMs, durationMs);
      this.#onPause({ from, durationMs, epochBefore: this.#epoch, epochAfter: epoch });
    }
    this.#epoch = epoch;
    this.#progressAt = waiting === 0 ? null : now;
  }

  /** Nothing waits any more, though the last one was not acknowledged. */
  idle(): void {
    this.#progressAt = null;
  }
}
