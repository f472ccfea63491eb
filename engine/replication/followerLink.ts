import type { Journal } from "../journal/journal.ts";
import type { Clock } from "../process/clock.ts";
import { type Log, messageOf } from "../process/log.ts";
import { encodeMessage, encodePulse, encodeRecordsHead, type Frame } from "./frames.ts";
import type { Welcome } from "./handshake.ts";
import type { Connection } from "./network.ts";
import type { RecentBatches } from "./recentBatches.ts";
import type { SnapshotTransfer, SnapshotTransferOptions } from "./snapshotTransfer.ts";

export interface FollowerLinkOptions {
  readonly connection: Connection;
  readonly instance: string;
  readonly welcome: Welcome;
  readonly journal: Journal;
  readonly recent: RecentBatches;
  readonly transfer: (send: SnapshotTransferOptions["send"]) => SnapshotTransfer;
  readonly clock: Clock;
  readonly log: Log;
  /** What to tell the follower as committed. */
  readonly committed: () => number;
  /** The follower told something new. */
  readonly onAck: () => void;
  /** The follower has taken this snapshot, and `transfer` fetches it. */
  readonly onOffer: (manifest: unknown, transfer: SnapshotTransfer) => void;
  readonly onClosed: (link: FollowerLink) => void;
}

/** A primary's connection to one follower: sends every record once, in order, as fast as the follower takes them. */
export class FollowerLink {
  readonly instance: string;
  readonly #options: FollowerLinkOptions;
  readonly #transfer: SnapshotTransfer;
  #nextSeq: number;
  #durable = 0;
  #echo = 0;
  #lastHeardAt: number;
  #blocked = false;
  /** Waits until {@link #blocked} ends. */
  #waiting: (() => void) | null = null;
  #readingDisk = false;
  #closed = false;

  constructor(options: FollowerLinkOptions) {
    this.#options = options;
    this.instance = options.instance;
    this.#nextSeq = options.welcome.commonEnd + 1;
    this.#lastHeardAt = options.clock();
    this.#transfer = options.transfer((...pieces) => void options.connection.write(...pieces));
    options.connection.onDrain(() => {
      this.#unblock();
      this.pump();
    });
    options.connection.onClose(() => {
      this.#closed = true;
      this.#unblock();
      this.#transfer.close();
      options.onClosed(this);
    });
    options.connection.write(encodeMessage("welcome", options.welcome));
  }

  /** Last record that the follower has acknowledged as durable; 0 until it has cut its own tail. */
  get durable(): number {
    return this.#durable;
  }

  /** The last ping that came back. */
  get echo(): number {
    return this.#echo;
  }

  get lastHeardAt(): number {
    return this.#lastHeardAt;
  }

  receive(frame: Frame): void {
    this.#lastHeardAt = this.#options.clock();
    if (this.#transfer.handle(frame)) return;
    if (frame.type === "snapshotOffer") {
      this.#options.onOffer(frame.body, this.#transfer);
      return;
    }
    if (frame.type !== "ack") {
      this.close();
      return;
    }
    this.#durable = Math.max(this.#durable, frame.durable);
    this.#echo = Math.max(this.#echo, frame.echo);
    this.#options.onAck();
  }

  /** Sends what the follower does not have yet, as far as its connection takes it. */
  pump(): void {
    const { recent, journal } = this.#options;
    // Its journal is to begin behind the snapshot that it fetches: it connects anew then.
    if (this.#readingDisk || this.#options.welcome.snapshot !== undefined) return;
    while (!this.#closed && !this.#blocked && this.#nextSeq <= journal.last.seq) {
      const piece = recent.from(this.#nextSeq);
      if (piece === null) {
        this.#readingDisk = true;
        void this.#sendFromDisk();
        return;
      }
      this.#send(piece.bytes);
      this.#nextSeq = piece.lastSeq + 1;
    }
  }

  pulse(ping: number): void {
    if (!this.#closed) this.#options.connection.write(encodePulse(this.#options.committed(), ping));
  }

  close(): void {
    this.#closed = true;
    this.#options.connection.destroy();
  }

  async #sendFromDisk(): Promise<void> {
    const { journal, log } = this.#options;
    try {
      // What is not in memory is older than this epoch, or durable: both are on disk.
      for await (const batch of journal.read(this.#nextSeq, journal.durable.seq)) {
        if (this.#closed) return;
        this.#send(batch.bytes);
        if (this.#blocked) await this.#unblocked();
        this.#nextSeq = batch.last.seq + 1;
      }
    } catch (error) {
      log.warn("reading the journal for a follower failed", { follower: this.instance, error: messageOf(error) });
      this.close();
    } finally {
      this.#readingDisk = false;
    }
    this.pump();
  }

  #send(records: Buffer): void {
    const { connection, committed } = this.#options;
    this.#blocked = !connection.write(encodeRecordsHead(committed(), records.length), records);
  }

  #unblocked(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #unblock(): void {
    this.#blocked = false;
    this.#waiting?.();
    this.#waiting = null;
  }
}
