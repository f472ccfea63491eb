import type { Clock } from "../process/clock.ts";
import type { ListenAddress } from "../process/config.ts";
import { type Log, messageOf } from "../process/log.ts";
import type { CancelTimer, Timers } from "../process/timers.ts";
import type { Manifest } from "../snapshots/manifest.ts";
import type { SnapshotFetch } from "../snapshots/snapshotFetch.ts";
import { encodeAck, encodeMessage, type Frame, FrameReader } from "./frames.ts";
import { describeRefusal, type Hello, parseWelcome, type Welcome } from "./handshake.ts";
import type { Connection, Network } from "./network.ts";
import type { SnapshotTransfer, SnapshotTransferOptions } from "./snapshotTransfer.ts";

/** What a standby does with its primary's stream. */
export interface UpstreamConsumer {
  /** Asks to follow `epoch`. Made anew for every attempt: what this replica holds changes. */
  hello(epoch: number): Hello;
  /** Cuts the own history after `commonEnd`; the stream waits for it. */
  cutAfter(commonEnd: number): Promise<void>;
  /** What is to be fetched of `snapshot`: everything, or the rest of what an earlier connection brought. */
  fetch(snapshot: Manifest): Promise<SnapshotFetch>;
  /** Replaces history and state by a snapshot that is fetched. */
  install(snapshot: Manifest): Promise<void>;
  /** The own newest snapshot, which the primary may want. */
  newestSnapshot(): Manifest | undefined;
  transfer(send: SnapshotTransferOptions["send"]): SnapshotTransfer;
  /** Throws when the records do not continue the own history. */
  receive(bytes: Buffer, committed: number): void;
  learnCommitted(committed: number): void;
  /** Last record that may be acknowledged as durable. */
  durableSeq(): number;
  /** `connected` of the link changed. */
  connectionChanged(): void;
}

export interface UpstreamTarget {
  readonly instance: string;
  readonly replication: ListenAddress;
  readonly epoch: number;
}

export interface UpstreamLinkOptions {
  readonly target: UpstreamTarget;
  readonly consumer: UpstreamConsumer;
  readonly network: Network;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  /** A connection that was silent for this long is given up. */
  readonly silenceMs: number;
}

/** The primary may be told to lead a moment after its followers are told to follow: try again soon. */
const retryMs = 15;

/**
 * A standby's connection to its primary. It reconnects until it is stopped; after {@link stop} nothing more is
 * received and nothing more is acknowledged.
 */
export class UpstreamLink {
  readonly target: UpstreamTarget;
  readonly #options: UpstreamLinkOptions;
  #connection: Connection | null = null;
  #transfer: SnapshotTransfer | null = null;
  #fetch: SnapshotFetch | null = null;
  #streaming = false;
  /** Frames that arrived together with the welcome, while the own tail was being cut. */
  #held: Frame[] | null = null;
  #stopped = false;
  #lastHeardAt: number | null = null;
  #echo = 0;
  #cutting: Promise<void> = Promise.resolve();
  #retry: CancelTimer | null = null;
  #lastComplaint = "";

  constructor(options: UpstreamLinkOptions) {
    this.#options = options;
    this.target = options.target;
    this.#connect();
  }

  /** Welcomed, and every byte since then was used. */
  get connected(): boolean {
    return this.#streaming;
  }

  /** How far the snapshot is that this replica needs before it can follow; null when it needs none. */
  get fetching(): { readonly bytes: number; readonly total: number } | null {
    return this.#fetch === null ? null : { bytes: this.#fetch.receivedBytes, total: this.#fetch.manifest.bytes };
  }

  /** When the primary was last heard, on the link's clock; null for never. */
  get lastHeardAt(): number | null {
    return this.#lastHeardAt;
  }

  /** Tells the primary what is durable by now. */
  acknowledge(): void {
    const isTalking = this.#streaming || this.#fetch !== null;
    if (isTalking) this.#connection?.write(encodeAck(this.#options.consumer.durableSeq(), this.#echo));
  }

  /** Tells the primary of a snapshot that it may fetch. */
  offer(snapshot: Manifest): void {
    if (this.#streaming) this.#connection?.write(encodeMessage("snapshotOffer", snapshot));
  }

  /** Ends the stream at once. Resolves when a cut that was under way has finished. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#streaming = false;
    this.#retry?.();
    this.#transfer?.close();
    this.#connection?.destroy();
    await this.#cutting;
  }

  #connect(): void {
    const { network, consumer, silenceMs } = this.#options;
    const connection = network.connect(this.target.replication);
    const reader = new FrameReader();
    this.#connection = connection;
    this.#held = null;
    const transfer = consumer.transfer((...pieces) => void connection.write(...pieces));
    this.#transfer = transfer;
    connection.closeWhenSilentFor(silenceMs);
    connection.onOpen(() => connection.write(encodeMessage("hello", consumer.hello(this.target.epoch))));
    connection.onData((chunk) => this.#read(connection, reader, chunk));
    connection.onClose((error) => {
      transfer.close();
      this.#closed(error);
    });
  }

  #closed(error: Error | null): void {
    if (this.#stopped) return;
    if (error !== null) this.#complain(error.message);
    const wasStreaming = this.#streaming;
    this.#streaming = false;
    if (wasStreaming) this.#options.consumer.connectionChanged();
    this.#retry = this.#options.timers.after(retryMs, () => void this.#cutting.then(() => this.#reconnect()));
  }

  #reconnect(): void {
    if (!this.#stopped) this.#connect();
  }

  #read(connection: Connection, reader: FrameReader, chunk: Buffer): void {
    if (this.#stopped || connection !== this.#connection) return;
    try {
      this.#handleAll(reader.push(chunk), connection);
    } catch (error) {
      this.#complain(messageOf(error));
      connection.destroy();
    }
  }

  #handleAll(frames: readonly Frame[], connection: Connection): void {
    for (const frame of frames) {
      if (this.#held !== null) this.#held.push(frame);
      else if (this.#streaming || this.#fetch !== null) this.#handle(frame);
      else this.#begin(frame, connection);
    }
  }

  #handle(frame: Frame): void {
    const { consumer, clock } = this.#options;
    this.#lastHeardAt = clock();
    if (this.#transfer?.handle(frame) === true) return;
    switch (frame.type) {
      case "records": {
        consumer.receive(frame.bytes, frame.committed);
        return;
      }
      case "pulse": {
        this.#echo = frame.ping;
        consumer.learnCommitted(frame.committed);
        this.acknowledge();
        return;
      }
      case "hello":
      case "welcome":
      case "refused":
      case "ack":
      case "snapshotOffer":
      case "snapshotRequest":
      case "snapshotChunk":
        throw new Error(`a ${frame.type} frame inside the stream`);
    }
  }

  #begin(frame: Frame, connection: Connection): void {
    if (frame.type === "refused") throw new Error(describeRefusal(frame.body));
    const welcome = frame.type === "welcome" ? parseWelcome(frame.body) : null;
    if (welcome === null) throw new Error(`a ${frame.type} frame instead of a welcome`);
    const { instance, epoch } = this.target;
    if (welcome.epoch !== epoch || welcome.instance !== instance) {
      throw new Error(`${welcome.instance} leads epoch ${welcome.epoch}; expected ${instance} in epoch ${epoch}`);
    }
    this.#lastHeardAt = this.#options.clock();
    this.#held = [];
    connection.pause();
    this.#cutting = this.#cutThenStream(connection, welcome);
  }

  async #cutThenStream(connection: Connection, { commonEnd, snapshot }: Welcome): Promise<void> {
    try {
      await this.#options.consumer.cutAfter(commonEnd);
      if (this.#stopped || connection.closed) return;
      if (snapshot === undefined) this.#stream(connection);
      else await this.#fetchAndInstall(connection, snapshot);
    } catch (error) {
      this.#complain(messageOf(error));
      connection.destroy();
    }
  }

  async #fetchAndInstall(connection: Connection, snapshot: Manifest): Promise<void> {
    const { consumer } = this.#options;
    const fetch = await consumer.fetch(snapshot);
    this.#fetch = fetch;
    try {
      this.#goOn(connection);
      await this.#transfer?.run(fetch);
      if (!this.#stopped) await consumer.install(snapshot);
    } finally {
      this.#fetch = null;
      consumer.connectionChanged();
      // What this replica holds is another history now: it says so in a new hello.
      connection.destroy();
    }
  }

  /** Uses what arrived while the own tail was cut, and takes more. */
  #goOn(connection: Connection): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.#options.consumer.connectionChanged();
    this.acknowledge();
    this.#handleAll(held, connection);
    connection.resume();
  }

  #stream(connection: Connection): void {
    this.#streaming = true;
    this.#lastComplaint = "";
    this.#goOn(connection);
    const newest = this.#options.consumer.newestSnapshot();
    if (newest !== undefined) this.offer(newest);
  }

  /** Says each reason once, not on every attempt. */
  #complain(reason: string): void {
    if (this.#stopped || reason === this.#lastComplaint) return;
    this.#lastComplaint = reason;
    this.#options.log.warn("not replicating yet", { upstream: this.target.instance, reason });
  }
}
