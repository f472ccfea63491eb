import { join } from "node:path";

import type { Clock } from "../process/clock.ts";
import { diskFailure, FatalError } from "../process/exit.ts";
import type { Disk, DiskFile } from "../storage/disk.ts";
import { removeDurably, writeDurably } from "../storage/durableFile.ts";
import {
  type EpochEntry,
  type EpochTable,
  emptyHistory,
  epochAt,
  epochEntryOf,
  type HistoryBase,
} from "./epochTable.ts";
import { readJournal } from "./journalReader.ts";
import { encodeSyncMark, entryLength, type JournalRecord, type Position, readEntry } from "./record.ts";
import type { RecordBatch } from "./recordBatch.ts";
import { type RecoveredSegment, recoverJournal } from "./recovery.ts";
import { createSegment, type SegmentFile, segmentHeaderBytes } from "./segmentFiles.ts";

export interface JournalOptions {
  readonly disk: Disk;
  readonly dataDir: string;
  readonly clock: Clock;
  /** A segment that has grown beyond this is followed by a new one. */
  readonly segmentBytes?: number;
  /** What is held of the history without this journal; nothing when absent. */
  readonly base?: HistoryBase;
  /** Every record on disk behind the base, in order, before {@link openJournal} resolves. */
  readonly onRecovered: (record: JournalRecord) => void;
  /** Everything up to `durable` survives a crash from now on. */
  readonly onDurable: (durable: Position, syncMilliseconds: number) => void;
  /** Writing failed: what the disk holds is unknown, nothing more is written, and the process must end. */
  readonly onFailure: (error: FatalError) => void;
}

/** Progress of the write path, on the journal's clock. */
export interface WritePath {
  /** When the write now under way began; null while there is none. */
  readonly pendingSince: number | null;
}

/** A tail that was cut because the epoch's primary never had it. */
export interface CutTail {
  readonly path: string;
  readonly fromSeq: number;
  readonly toSeq: number;
}

interface OpenSegment extends RecoveredSegment {
  bytes: number;
}

const defaultSegmentBytes = 64 * 1024 * 1024;

/** Opens the journal of a data directory and reads it. Throws {@link FatalError} when it cannot be trusted. */
export const openJournal = async (options: JournalOptions): Promise<Journal> => {
  const { disk } = options;
  const dir = join(options.dataDir, "journal");
  const cutDir = join(options.dataDir, "cut-tails");
  try {
    await disk.makeDirectory(dir);
    await disk.makeDirectory(cutDir);
    await disk.syncDirectory(options.dataDir);
    const base = options.base ?? emptyHistory;
    const epochs: EpochEntry[] = [...base.epochs];
    const { segments, last } = await recoverJournal(disk, dir, base, (record) => {
      const entry = epochEntryOf(record);
      if (entry !== null) epochs.push(entry);
      options.onRecovered(record);
    });
    // A snapshot was installed, and the crash came before the journal was begun anew behind it.
    const isOutdated = last.seq < base.position.seq;
    const usable = isOutdated || segments.length === 0 ? [await beginAnew(disk, dir, segments, base)] : segments;
    const active = usable.at(-1) ?? missingSegment();
    const cutTails = (await disk.readDirectory(cutDir)).length;
    const file = await disk.open(active.path, "write");
    const end = isOutdated ? base.position : last;
    return new Journal({ dir, cutDir, cutTails, epochs, last: end, file, segments: usable }, options);
  } catch (error) {
    throw diskFailure(`open the journal in ${dir}`, error);
  }
};

/** Removes all segments, and answers an empty one behind `base`. */
const beginAnew = async (
  disk: Disk,
  dir: string,
  segments: readonly SegmentFile[],
  { position }: HistoryBase,
): Promise<RecoveredSegment> => {
  // The newest first: a crash in between leaves a history that ends early, which is outdated just the same.
  for (const { path } of segments.toReversed()) await disk.remove(path);
  // Before the new one is there: an old one that came back beside it would look like its beginning.
  await disk.syncDirectory(dir);
  return { ...(await createSegment(disk, dir, position.seq + 1)), bytes: segmentHeaderBytes };
};

const missingSegment = (): never => {
  throw new Error("a journal has at least one segment");
};

interface JournalState {
  readonly dir: string;
  readonly cutDir: string;
  readonly cutTails: number;
  readonly epochs: readonly EpochEntry[];
  readonly last: Position;
  readonly file: DiskFile;
  readonly segments: readonly RecoveredSegment[];
}

/**
 * The durable history of a replica. Group commit: while one write and fsync is under way, further batches
 * collect, and all of them go out with the next one.
 */
export class Journal {
  readonly dir: string;
  readonly #disk: Disk;
  readonly #cutDir: string;
  readonly #options: JournalOptions;
  readonly #segments: OpenSegment[];
  #file: DiskFile;
  #epochs: EpochEntry[];
  #cutTails: number;
  #last: Position;
  #durable: Position;
  #waiting: RecordBatch[] = [];
  #flushing: Promise<void> | null = null;
  #forgetting: Promise<void> = Promise.resolve();
  #failure: FatalError | null = null;
  #pendingSince: number | null = null;

  constructor(state: JournalState, options: JournalOptions) {
    this.#disk = options.disk;
    this.dir = state.dir;
    this.#cutDir = state.cutDir;
    this.#cutTails = state.cutTails;
    this.#epochs = [...state.epochs];
    this.#last = state.last;
    this.#durable = state.last;
    this.#file = state.file;
    this.#segments = state.segments.map((segment) => ({ ...segment }));
    this.#options = options;
  }

  /** Position of the last appended record. */
  get last(): Position {
    return this.#last;
  }

  /** The first record that can be read, or that will be. */
  get firstSeq(): number {
    return (this.#segments[0] ?? missingSegment()).firstSeq;
  }

  get durable(): Position {
    return this.#durable;
  }

  /** Epochs of everything appended. */
  get epochTable(): EpochTable {
    return { entries: this.#epochs, end: this.#last.seq };
  }

  get size(): { firstSeq: number; lastSeq: number; bytes: number; cutTails: number } {
    const bytes = this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
    const firstSeq = this.#last.seq === 0 ? 0 : this.firstSeq;
    return { firstSeq, lastSeq: this.#last.seq, bytes, cutTails: this.#cutTails };
  }

  get writePath(): WritePath {
    return { pendingSince: this.#pendingSince };
  }

  /** Appends the continuation of the history; `onDurable` tells when it is safe. */
  append(batch: RecordBatch): void {
    if (this.#failure !== null) throw this.#failure;
    if (batch.first.seq !== this.#last.seq + 1) {
      throw new Error(`append of record ${batch.first.seq} to a journal that ends at ${this.#last.seq}`);
    }
    for (const record of batch.records) {
      const entry = epochEntryOf(record);
      if (entry !== null) this.#epochs.push(entry);
    }
    this.#last = batch.last;
    this.#waiting.push(batch);
    this.#flushing ??= this.#flush();
  }

  /** The records `fromSeq` to `toSeq`, which must be durable; see {@link readJournal}. */
  read(fromSeq: number, toSeq: number): AsyncGenerator<RecordBatch> {
    return readJournal(this.#disk, this.dir, fromSeq, toSeq);
  }

  /** Resolves with the durable position once everything appended so far is durable. */
  async flushed(): Promise<Position> {
    while (this.#flushing !== null) await this.#flushing;
    if (this.#failure !== null) throw this.#failure;
    return this.#durable;
  }

  /**
   * Removes every record after `seq` and keeps their bytes in a file of their own, for people: such records were
   * never acknowledged, but someone may ask for them. Null when there are none. Nothing may be appended meanwhile.
   */
  async cutAfter(seq: number): Promise<CutTail | null> {
    await this.flushed();
    if (seq >= this.#last.seq) return null;
    return this.#attempt(`cut the journal after record ${seq}`, () => this.#cut(seq));
  }

  /** Removes the segments that hold nothing after record `seq`, which must be held otherwise. */
  async forgetUpTo(seq: number): Promise<void> {
    const kept = this.#segments.findLastIndex(({ firstSeq }) => firstSeq <= seq + 1);
    const forgotten = this.#segments.splice(0, Math.max(kept, 0));
    if (forgotten.length === 0) return;
    this.#forgetting = this.#attempt(`forget records up to ${seq}`, async () => {
      // The oldest first, each for good before the next: no crash leaves a gap.
      for (const { path } of forgotten) await removeDurably(this.#disk, path);
    });
    await this.#forgetting;
  }

  /** Forgets everything and continues behind `base`, which is ahead. Nothing may be appended meanwhile. */
  async restartAfter(base: HistoryBase): Promise<void> {
    await this.flushed();
    if (base.position.seq <= this.#last.seq) throw new Error(`record ${base.position.seq} is in the journal already`);
    await this.#attempt(`continue the journal behind record ${base.position.seq}`, async () => {
      await this.#file.close();
      const segment = await beginAnew(this.#disk, this.dir, this.#segments, base);
      this.#file = await this.#disk.open(segment.path, "write");
      this.#segments.splice(0, this.#segments.length, segment);
    });
    this.#epochs = [...base.epochs];
    this.#last = base.position;
    this.#durable = base.position;
  }

  async close(): Promise<void> {
    await this.#forgetting;
    await this.flushed();
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batches = this.#waiting;
        this.#waiting = [];
        await this.#write(batches);
      }
    } catch (error) {
      this.#options.onFailure(this.#fail(diskFailure("write the journal", error)));
    } finally {
      this.#flushing = null;
    }
  }

  async #write(batches: readonly RecordBatch[]): Promise<void> {
    const start = this.#options.clock();
    this.#pendingSince = start;
    const segment = await this.#segmentToWrite();
    const buffers = [encodeSyncMark(this.#durable), ...batches.map((batch) => batch.bytes)];
    await this.#file.write(buffers, segment.bytes);
    await this.#file.sync();
    segment.bytes += buffers.reduce((sum, buffer) => sum + buffer.length, 0);
    const end = this.#options.clock();
    this.#pendingSince = null;
    this.#durable = batches.at(-1)?.last ?? this.#durable;
    this.#options.onDurable(this.#durable, end - start);
  }

  async #segmentToWrite(): Promise<OpenSegment> {
    const active = this.#activeSegment();
    const isEmpty = active.bytes === segmentHeaderBytes;
    if (isEmpty || active.bytes < (this.#options.segmentBytes ?? defaultSegmentBytes)) return active;
    const created = {
      ...(await createSegment(this.#disk, this.dir, this.#durable.seq + 1)),
      bytes: segmentHeaderBytes,
    };
    await this.#file.close();
    this.#file = await this.#disk.open(created.path, "write");
    this.#segments.push(created);
    return created;
  }

  #activeSegment(): OpenSegment {
    return this.#segments.at(-1) ?? missingSegment();
  }

  /** Whatever fails here leaves the disk in a state that only a restart can tell. */
  async #attempt<T>(what: string, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      const failure = this.#fail(diskFailure(what, error));
      this.#options.onFailure(failure);
      throw failure;
    }
  }

  async #cut(seq: number): Promise<CutTail> {
    const kept = this.#segments.findLastIndex((segment) => segment.firstSeq <= seq + 1);
    const segment = this.#segments[kept];
    if (segment === undefined) throw new Error(`no segment holds record ${seq + 1}`);
    const later = this.#segments.slice(kept + 1);
    const content = (await this.#disk.readFile(segment.path)).subarray(0, segment.bytes);
    const end = endOfRecord(content, seq);
    const tail = [content.subarray(end)];
    for (const { path } of later) tail.push((await this.#disk.readFile(path)).subarray(segmentHeaderBytes));
    const cut = await this.#keepAside(seq + 1, Buffer.concat(tail));
    // The newest first: a crash in between leaves a shorter, but gap-free history.
    for (const { path } of later.toReversed()) await this.#disk.remove(path);
    await this.#file.close();
    this.#file = await this.#disk.open(segment.path, "write");
    await this.#file.truncate(end);
    await this.#file.sync();
    await this.#disk.syncDirectory(this.dir);
    segment.bytes = end;
    // Older ones may have been forgotten meanwhile.
    this.#segments.splice(this.#segments.indexOf(segment) + 1);
    this.#epochs = this.#epochs.filter((entry) => entry.startSeq <= seq);
    this.#last = { epoch: epochAt(this.#epochs, seq), seq };
    this.#durable = this.#last;
    return cut;
  }

  async #keepAside(fromSeq: number, bytes: Buffer): Promise<CutTail> {
    const { epoch, seq: toSeq } = this.#last;
    const name = `${String(this.#cutTails + 1).padStart(4, "0")}-epoch-${epoch}-records-${fromSeq}-${toSeq}.cut`;
    const path = join(this.#cutDir, name);
    await writeDurably(this.#disk, path, bytes);
    this.#cutTails += 1;
    return { path, fromSeq, toSeq };
  }

  #fail(error: FatalError): FatalError {
    this.#failure = error;
    return error;
  }
}

/** Offset behind record `seq` of a segment, or behind its header when it holds only later ones. */
const endOfRecord = (content: Buffer, seq: number): number => {
  let end = segmentHeaderBytes;
  for (let offset = end; offset < content.length; offset += entryLength(content, offset)) {
    const entry = readEntry(content, offset);
    if (entry === "damaged") throw new FatalError("corrupt", `the journal is damaged before record ${seq}`);
    if (entry === "syncMark") continue;
    if (entry.seq > seq) return end;
    end = offset + entryLength(content, offset);
  }
  return end;
};
