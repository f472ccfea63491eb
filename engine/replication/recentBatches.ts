import { entryLength } from "../journal/record.ts";
import type { RecordBatch } from "../journal/recordBatch.ts";

/** The latest batches of a primary, in memory: a follower that keeps up is never served from the disk. */
export class RecentBatches {
  readonly #maxBytes: number;
  #batches: RecordBatch[] = [];
  #bytes = 0;

  constructor(maxBytes = 32 * 1024 * 1024) {
    this.#maxBytes = maxBytes;
  }

  /** Adds the newest batch and forgets the oldest ones; never one that is not on disk up to `durableSeq` yet. */
  add(batch: RecordBatch, durableSeq: number): void {
    this.#batches.push(batch);
    this.#bytes += batch.bytes.length;
    let surplus = 0;
    for (const oldest of this.#batches) {
      if (this.#bytes <= this.#maxBytes || oldest.last.seq > durableSeq) break;
      this.#bytes -= oldest.bytes.length;
      surplus += 1;
    }
    if (surplus > 0) this.#batches = this.#batches.slice(surplus);
  }

  /** Encoded records from `seq` to the end of its batch; null when they are not, or no longer, here. */
  from(seq: number): { bytes: Buffer; lastSeq: number } | null {
    const batch = this.#find(seq);
    if (batch === undefined) return null;
    return { bytes: batch.bytes.subarray(offsetOf(batch, seq)), lastSeq: batch.last.seq };
  }

  /** A follower reads in order and mostly at the end. */
  #find(seq: number): RecordBatch | undefined {
    let low = 0;
    let high = this.#batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const batch = this.#batches[middle];
      if (batch !== undefined && batch.last.seq < seq) low = middle + 1;
      else high = middle;
    }
    const batch = this.#batches[low];
    return batch !== undefined && batch.first.seq <= seq ? batch : undefined;
  }
}

const offsetOf = (batch: RecordBatch, seq: number): number => {
  let offset = 0;
  for (let index = batch.first.seq; index < seq; index += 1) offset += entryLength(batch.bytes, offset);
  return offset;
};
