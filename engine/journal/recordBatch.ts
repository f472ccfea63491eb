import { encodeRecord, entryLength, type JournalRecord, maxEntryBytes, type Position, readEntry } from "./record.ts";

/** Consecutive records with their encoding: what is written, sent and read in one piece. Never empty. */
export interface RecordBatch {
  readonly bytes: Buffer;
  readonly records: readonly JournalRecord[];
  readonly first: Position;
  readonly last: Position;
}

/** Collects records until the caller takes them as one batch. */
export class BatchWriter {
  readonly #initialBytes: number;
  #bytes: Buffer;
  #used = 0;
  #records: JournalRecord[] = [];

  constructor(initialBytes = 64 * 1024) {
    this.#initialBytes = Math.max(initialBytes, maxEntryBytes);
    this.#bytes = Buffer.allocUnsafe(this.#initialBytes);
  }

  add(record: JournalRecord): void {
    if (this.#bytes.length - this.#used < maxEntryBytes) this.#grow();
    this.#used += encodeRecord(record, this.#bytes, this.#used);
    this.#records.push(record);
  }

  /** Everything added since the last call; null when that is nothing. */
  take(): RecordBatch | null {
    const batch = batchOf(this.#records, this.#bytes.subarray(0, this.#used));
    if (batch === null) return null;
    // The next batch goes behind this one in the same memory while there is room: its bytes stay untouched.
    this.#bytes = this.#bytes.subarray(this.#used);
    this.#used = 0;
    this.#records = [];
    return batch;
  }

  #grow(): void {
    const larger = Buffer.allocUnsafe(Math.max(this.#initialBytes, this.#used * 2));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}

/** The batch of `records` whose encoding is `bytes`; null for none. */
export const batchOf = (records: readonly JournalRecord[], bytes: Buffer): RecordBatch | null => {
  const first = records[0];
  const last = records.at(-1);
  if (first === undefined || last === undefined) return null;
  return { bytes, records, first: positionOf(first), last: positionOf(last) };
};

export const positionOf = ({ epoch, seq }: JournalRecord): Position => ({ epoch, seq });

/** A peer sent records that are damaged or do not continue the history. */
export class BadBatch extends Error {
  constructor(detail: string) {
    super(`the records received are unusable: ${detail}`);
    this.name = "BadBatch";
  }
}

/** Decodes what a peer sent as the continuation of `after`. Throws {@link BadBatch}. */
export const decodeBatch = (bytes: Buffer, after: Position): RecordBatch => {
  const records: JournalRecord[] = [];
  let previous = after;
  for (let offset = 0; offset < bytes.length; offset += entryLength(bytes, offset)) {
    const entry = readEntry(bytes, offset);
    if (entry === "damaged" || entry === "syncMark") throw new BadBatch(`${entry} entry at byte ${offset}`);
    const gap = discontinuity(previous, entry);
    if (gap !== null) throw new BadBatch(gap);
    records.push(entry);
    previous = entry;
  }
  const batch = batchOf(records, bytes);
  if (batch === null) throw new BadBatch("no record in it");
  return batch;
};

/** Why `next` cannot follow `previous`; null when it can. */
export const discontinuity = (previous: Position, next: JournalRecord): string | null => {
  if (next.seq !== previous.seq + 1) return `record ${next.seq} follows record ${previous.seq}`;
  const startsEpoch = next.command.kind === "epochStart";
  if (startsEpoch && next.epoch <= previous.epoch) return `epoch ${next.epoch} starts after epoch ${previous.epoch}`;
  if (!startsEpoch && next.epoch !== previous.epoch) {
    return `record ${next.seq} of epoch ${next.epoch} follows epoch ${previous.epoch} without an epoch start`;
  }
  return null;
};
