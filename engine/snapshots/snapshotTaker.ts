import { type EpochEntry, epochAt } from "../journal/epochTable.ts";
import { diskFailure, type FatalError } from "../process/exit.ts";
import { type Log, messageOf } from "../process/log.ts";
import type { Timers } from "../process/timers.ts";
import { Refusal } from "../replica/refusal.ts";
import { idOf, type Manifest, snapshotFormat } from "./manifest.ts";
import type { SnapshotWriter } from "./snapshotFile.ts";
import type { SnapshotStore } from "./snapshotStore.ts";

/** The state that snapshots are taken of. It must not change while it is serialised. */
export interface SnapshotSource {
  readonly appliedSeq: number;
  readonly lastHash: { readonly seq: number; readonly hash: string };
  serialise(): Iterable<Buffer>;
}

export interface SnapshotTakerOptions {
  readonly store: SnapshotStore;
  readonly source: SnapshotSource;
  /** Applying stands still in between; receiving, syncing and acknowledging go on. */
  readonly pause: () => void;
  readonly resume: () => void;
  readonly epochs: () => readonly EpochEntry[];
  /** Resolves once everything received by now is durable here. */
  readonly flushed: () => Promise<unknown>;
  readonly freeBytes: () => Promise<number>;
  readonly build: string;
  readonly timers: Timers;
  readonly log: Log;
  readonly onTaken: (manifest: Manifest) => void;
  /** Something that status shows has changed. */
  readonly onChange: () => void;
  readonly onFailure: (error: FatalError) => void;
}

/** A snapshot that is being taken. */
export interface Taking {
  readonly id: string;
  /** Written so far. */
  readonly bytes: number;
}

/** Room that a snapshot leaves to the journal. */
const reservedBytes = 64 * 1024 * 1024;

class Abandoned extends Error {}

/** Takes snapshots of the applied state, one at a time, in slices between which other events have their turn. */
export class SnapshotTaker {
  readonly #options: SnapshotTakerOptions;
  #taking: { readonly id: string; writer: SnapshotWriter | null; abandoned: boolean } | null = null;
  #ended: Promise<void> = Promise.resolve();
  #lastFailure: string | null = null;

  constructor(options: SnapshotTakerOptions) {
    this.#options = options;
  }

  get taking(): Taking | null {
    return this.#taking === null ? null : { id: this.#taking.id, bytes: this.#taking.writer?.bytes ?? 0 };
  }

  /** Why the last one was not finished; null when it was. */
  get lastFailure(): string | null {
    return this.#lastFailure;
  }

  /**
   * Begins a snapshot and answers its id; that of the newest one when nothing was applied since.
   * Throws a {@link Refusal}: BUSY, NO_SPACE, or WRONG_STATE while nothing is applied.
   */
  async begin(): Promise<string> {
    const { store, source, freeBytes } = this.#options;
    this.#refuseBusy();
    const needed = Math.ceil((store.newest?.bytes ?? 0) * 1.25) + reservedBytes;
    const free = await freeBytes();
    if (free < needed) throw new Refusal("NO_SPACE", `${free} bytes are free, a snapshot needs ${needed}`);
    this.#refuseBusy();
    const seq = source.appliedSeq;
    if (seq === 0) throw new Refusal("WRONG_STATE", "nothing is applied yet");
    const position = { epoch: epochAt(this.#options.epochs(), seq), seq };
    const id = idOf(position);
    if (store.newest?.seq === seq) return id;
    this.#taking = { id, writer: null, abandoned: false };
    this.#ended = this.#take(position);
    return id;
  }

  /** Gives up the snapshot that is being taken, if there is one. Applying goes on when this has resolved. */
  async abandon(): Promise<void> {
    if (this.#taking !== null) this.#taking.abandoned = true;
    await this.#ended;
  }

  async #take(position: { readonly epoch: number; readonly seq: number }): Promise<void> {
    const { store, log, onTaken, onChange, onFailure } = this.#options;
    onChange();
    try {
      const manifest = await this.#write(position);
      await store.add(manifest);
      this.#lastFailure = null;
      log.info("took a snapshot", { snapshot: idOf(manifest), bytes: manifest.bytes });
      onTaken(manifest);
    } catch (error) {
      this.#lastFailure = messageOf(error);
      await this.#taking?.writer?.abandon().catch(() => undefined);
      await store.discard(idOf(position)).catch(() => undefined);
      log.warn("a snapshot was not finished", { snapshot: idOf(position), error: this.#lastFailure });
      const failure = diskFailure("write a snapshot", error);
      // The journal has use for the room that is left; a device that fails has no use at all.
      if (!(error instanceof Abandoned) && failure.reason !== "diskFull") onFailure(failure);
    } finally {
      this.#taking = null;
      onChange();
    }
  }

  async #write(position: { readonly epoch: number; readonly seq: number }): Promise<Manifest> {
    const { store, source, pause, resume, epochs, flushed, build } = this.#options;
    const epochTable = epochs().filter(({ startSeq }) => startSeq <= position.seq);
    const { hash } = source.lastHash;
    pause();
    let writer: SnapshotWriter;
    try {
      writer = await store.begin(idOf(position));
      if (this.#taking !== null) this.#taking.writer = writer;
      for (const piece of source.serialise()) {
        await writer.addPiece(piece);
        await this.#turn();
      }
    } finally {
      resume();
    }
    const { bytes } = writer;
    const sha256 = await writer.finish();
    // What is applied need not be durable here yet, and a journal that ends before its snapshot would be thrown away.
    await flushed();
    return { ...position, hash, bytes, sha256, formats: { snapshot: snapshotFormat }, build, epochTable };
  }

  #turn(): Promise<void> {
    if (this.#taking?.abandoned === true) throw new Abandoned("it was given up for a promotion");
    return new Promise((resolve) => this.#options.timers.soon(resolve));
  }

  #refuseBusy(): void {
    if (this.#taking !== null) throw new Refusal("BUSY", `snapshot ${this.#taking.id} is being taken`);
  }
}
