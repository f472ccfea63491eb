import type { Applied, Exchange } from "../exchange/exchange.ts";
import type { JournalRecord } from "../journal/record.ts";
import { FatalError } from "../process/exit.ts";
import { messageOf } from "../process/log.ts";
import type { Timers } from "../process/timers.ts";

/** Someone who waits for a record to be committed and applied. */
export interface Ticket {
  applied(effect: Applied): void;
}

export interface CommitQueueOptions {
  readonly exchange: Exchange;
  readonly timers: Timers;
  /** Whatever it throws counts as a fault of applying the record. */
  readonly beforeApply?: (record: JournalRecord) => void;
  readonly onApplied: (record: JournalRecord, effect: Applied, seconds: number) => void;
  readonly onFailure: (error: FatalError) => void;
  readonly clockSeconds: () => number;
}

interface Waiting {
  readonly record: JournalRecord;
  readonly ticket: Ticket | null;
}

/** Records applied before other events get their turn. */
const recordsPerTurn = 5_000;

/**
 * The records that are received and not applied. Only committed ones are applied, on a primary as on a standby, so
 * that a tail that has to be cut was never visible to anyone.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  #waiting: Waiting[] = [];
  /** Index of the first one in `#waiting` that is not applied. */
  #head = 0;
  #received = 0;
  #committed = 0;
  #scheduled = false;
  #paused = false;
  /** Nothing from this record on is applied. */
  #haltSeq = Number.POSITIVE_INFINITY;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  /** Last record received. */
  get received(): number {
    return this.#received;
  }

  /** Last record that is received and known to be committed. */
  get committed(): number {
    return Math.min(this.#committed, this.#received);
  }

  get applied(): number {
    return this.#options.exchange.appliedSeq;
  }

  get unapplied(): number {
    return this.#waiting.length - this.#head;
  }

  add(record: JournalRecord, ticket: Ticket | null): void {
    this.#waiting.push({ record, ticket });
    this.#received = record.seq;
  }

  /** Learns that everything up to `committed` is committed, and applies it. */
  advance(committed: number): void {
    this.#committed = Math.max(this.#committed, committed);
    if (!this.#scheduled) this.#applyTurn();
  }

  /** Applies nothing until {@link resume}; records are taken in meanwhile. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    if (!this.#scheduled) this.#applyTurn();
  }

  /** Never applies record `seq` or anything after it. */
  haltBefore(seq: number): void {
    this.#haltSeq = Math.min(this.#haltSeq, seq);
  }

  /** Continues behind record `seq`, up to which the exchange holds the state already. */
  restartAfter(seq: number): void {
    this.#waiting = [];
    this.#head = 0;
    this.#received = seq;
    this.#committed = Math.max(this.#committed, seq);
  }

  /** Forgets the records after `seq`; they must not be committed. */
  cutAfter(seq: number): void {
    this.#waiting = this.#waiting.slice(this.#head).filter(({ record }) => record.seq <= seq);
    this.#head = 0;
    this.#received = Math.min(this.#received, seq);
  }

  /** The records stay, but nobody waits for them any more. */
  dropTickets(): void {
    this.#waiting = this.#waiting.slice(this.#head).map(({ record }) => ({ record, ticket: null }));
    this.#head = 0;
  }

  #applyTurn(): void {
    if (this.#paused) return;
    for (let count = 0; count < recordsPerTurn; count += 1) {
      const next = this.#waiting[this.#head];
      if (next === undefined || next.record.seq > this.#committed || next.record.seq >= this.#haltSeq) {
        this.#compact();
        return;
      }
      this.#head += 1;
      if (!this.#apply(next)) {
        this.#head -= 1;
        return;
      }
    }
    this.#compact();
    this.#scheduled = true;
    this.#options.timers.soon(() => {
      this.#scheduled = false;
      this.#applyTurn();
    });
  }

  #apply({ record, ticket }: Waiting): boolean {
    const { exchange, clockSeconds, beforeApply, onApplied, onFailure } = this.#options;
    const start = clockSeconds();
    let effect: Applied;
    try {
      beforeApply?.(record);
      effect = exchange.apply(record);
    } catch (error) {
      const { seq } = record;
      // The process ends, but not in this turn: nothing may be applied on top of half a record.
      this.haltBefore(seq);
      onFailure(
        new FatalError("applyFault", `applying record ${seq} failed: ${messageOf(error)}`, { cause: error, seq }),
      );
      return false;
    }
    onApplied(record, effect, clockSeconds() - start);
    ticket?.applied(effect);
    return true;
  }

  #compact(): void {
    if (this.#head < recordsPerTurn && this.#head < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#head);
    this.#head = 0;
  }
}
