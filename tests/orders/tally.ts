import type { Settled } from "./submit.ts";

/** Acknowledgements that one epoch gave first; repeated answers do not count. Milliseconds of the monotonic clock. */
export interface EpochTally {
  readonly epoch: number;
  readonly acks: number;
  readonly firstAckMs: number;
  readonly lastAckMs: number;
}

/** A summary of what came back so far. */
export interface TallyReport {
  /** Orders acknowledged. */
  readonly acked: number;
  /** Acknowledgements of orders that had been acknowledged before and were sent once more on purpose. */
  readonly repeated: number;
  readonly refused: number;
  /** The first few reasons of refusals. */
  readonly refusals: readonly string[];
  /** Orders given up without an answer. */
  readonly unresolved: number;
  /** Attempts that had to be repeated. */
  readonly retries: number;
  readonly lastRetryReason: string | null;
  /** Acknowledged over the last full second. */
  readonly acksPerSecond: number;
  /** Of the newest acknowledgement; null before the first. */
  readonly epoch: number | null;
  /** Longest time between two acknowledgements in a row. */
  readonly longestGapMs: number;
  readonly sinceLastAckMs: number | null;
  readonly epochs: readonly EpochTally[];
}

type Acked = Extract<Settled, { kind: "acked" }>;

const keptRefusals = 5;

/** Counts outcomes as they come, in constant memory for each epoch. */
export class Tally {
  readonly #epochs = new Map<number, { acks: number; firstAckMs: number; lastAckMs: number }>();
  readonly #refusals: string[] = [];
  #acked = 0;
  #repeated = 0;
  #refused = 0;
  #unresolved = 0;
  #retries = 0;
  #lastRetryReason: string | null = null;
  #epoch: number | null = null;
  #longestGapMs = 0;
  #lastAckMs: number | null = null;
  readonly #perSecond = new SecondCounter();

  /** `repeat` is true for an order that had been acknowledged before. */
  acked(settled: Acked, repeat: boolean): void {
    const { ack, ackedMs } = settled;
    if (repeat) this.#repeated++;
    else this.#acked++;
    if (this.#lastAckMs !== null) this.#longestGapMs = Math.max(this.#longestGapMs, ackedMs - this.#lastAckMs);
    this.#lastAckMs = ackedMs;
    this.#perSecond.count(ackedMs);
    // A repeated answer carries the epoch of long ago: it says nothing of who leads now.
    if (ack.duplicate) return;
    this.#epoch = Math.max(this.#epoch ?? 0, ack.epoch);
    const epoch = this.#epochs.get(ack.epoch);
    if (epoch === undefined) {
      this.#epochs.set(ack.epoch, { acks: 1, firstAckMs: ackedMs, lastAckMs: ackedMs });
      return;
    }
    epoch.acks++;
    epoch.lastAckMs = ackedMs;
  }

  refused(reason: string): void {
    this.#refused++;
    if (this.#refusals.length < keptRefusals) this.#refusals.push(reason);
  }

  unresolved(): void {
    this.#unresolved++;
  }

  retried(reason: string): void {
    this.#retries++;
    this.#lastRetryReason = reason;
  }

  report(nowMs: number): TallyReport {
    return {
      acked: this.#acked,
      repeated: this.#repeated,
      refused: this.#refused,
      refusals: [...this.#refusals],
      unresolved: this.#unresolved,
      retries: this.#retries,
      lastRetryReason: this.#lastRetryReason,
      acksPerSecond: this.#perSecond.lastFullSecond(nowMs),
      epoch: this.#epoch,
      longestGapMs: this.#longestGapMs,
      sinceLastAckMs: this.#lastAckMs === null ? null : nowMs - this.#lastAckMs,
      epochs: [...this.#epochs].map(([epoch, tally]) => ({ epoch, ...tally })).sort((a, b) => a.epoch - b.epoch),
    };
  }
}

/** Counts what happens in the running second and remembers the one before. */
class SecondCounter {
  #second = 0;
  #running = 0;
  #last = 0;

  count(nowMs: number): void {
    this.#turn(nowMs);
    this.#running++;
  }

  lastFullSecond(nowMs: number): number {
    this.#turn(nowMs);
    return this.#last;
  }

  #turn(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return;
    this.#last = second === this.#second + 1 ? this.#running : 0;
    this.#running = 0;
    this.#second = second;
  }
}
