import type { Socket } from "node:net";

import type { Journal } from "../journal/journal.ts";
import { readJournal } from "../journal/journalReader.ts";
import type { Clock } from "../process/clock.ts";
import { type Log, messageOf } from "../process/log.ts";
import { encodeMessage, encodePulse, encodeRecordsHead, type Frame } from "./frames.ts";
import type { Welcome } from "./handshake.ts";
import type { RecentBatches } from "./recentBatches.ts";

export interface FollowerLinkOptions {
  readonly socket: Socket;
  readonly instance: string;
  readonly welcome: Welcome;
  readonly journal: Journal;
  readonly recent: RecentBatches;
  readonly clock: Clock;
  readonly log: Log;
  /** What to tell the follower as committed. */
  readonly committed: () => number;
  /** The follower told something new. */
  readonly onAck: () => void;
  readonly onClosed: (link: FollowerLink) => void;
}

/** A primary's connection to one follower: sends every record once, in order, as fast as the follower takes them. */
export class FollowerLink {
  readonly instance: string;
  readonly #options: FollowerLinkOptions;
  #nextSeq: number;
  #durable = 0;
  #echo = 0;
  #lastHeardAt: number;
  #blocked = false;
  #readingDisk = false;
  #closed = false;

  constructor(options: FollowerLinkOptions) {
    this.#options = options;
    this.instance = options.instance;
    this.#nextSeq = options.welcome.commonEnd + 1;
    this.#lastHeardAt = options.clock();
    options.socket.on("drain", () => {
      this.#blocked = false;
      this.pump();
    });
    options.socket.on("close", () => {
      this.#closed = true;
      options.onClosed(this);
    });
    options.socket.write(encodeMessage("welcome", options.welcome));
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
    if (frame.type !== "ack") {
      this.close();
      return;
    }
    this.#lastHeardAt = this.#options.clock();
    this.#durable = Math.max(this.#durable, frame.durable);
    this.#echo = Math.max(this.#echo, frame.echo);
    this.#options.onAck();
  }

  /** Sends what the follower does not have yet, as far as its connection takes it. */
  pump(): void {
    const { socket, recent, journal, committed } = this.#options;
    if (this.#readingDisk) return;
    while (!this.#closed && !this.#blocked && this.#nextSeq <= journal.last.seq) {
      const piece = recent.from(this.#nextSeq);
      if (piece === null) {
        this.#readingDisk = true;
        void this.#sendFromDisk();
        return;
      }
      socket.cork();
      socket.write(encodeRecordsHead(committed(), piece.bytes.length));
      this.#blocked = !socket.write(piece.bytes);
      socket.uncork();
      this.#nextSeq = piece.lastSeq + 1;
    }
  }

  pulse(ping: number): void {
    if (!this.#closed) this.#options.socket.write(encodePulse(this.#options.committed(), ping));
  }

  close(): void {
    this.#closed = true;
    this.#options.socket.destroy();
  }

  async #sendFromDisk(): Promise<void> {
    const { journal, log } = this.#options;
    try {
      // What is not in memory is older than this epoch, or durable: both are on disk.
      for await (const batch of readJournal(journal.dir, this.#nextSeq, journal.durable.seq)) {
        if (!(await this.#sendAndWait(batch.bytes))) return;
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

  /** Resolves once the connection can take more; false when it is closed. */
  #sendAndWait(bytes: Buffer): Promise<boolean> {
    const { socket, committed } = this.#options;
    if (this.#closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      socket.write(encodeRecordsHead(committed(), bytes.length));
      socket.write(bytes, (error) => resolve(!this.#closed && (error === null || error === undefined)));
    });
  }
}
