import type { Disk, DiskFile } from "../storage/disk.ts";
import { entryLength, type JournalRecord, readEntry } from "./record.ts";
import { batchOf, type RecordBatch } from "./recordBatch.ts";
import { listSegments, type SegmentFile, segmentHeaderBytes } from "./segmentFiles.ts";

/** The journal begins later: what comes before is in a snapshot only. */
export class RecordsGone extends Error {
  constructor(seq: number) {
    super(`record ${seq} is not in the journal any more`);
    this.name = "RecordsGone";
  }
}

const chunkBytes = 256 * 1024;

/**
 * Reads the records `fromSeq` to `toSeq` of a journal that may be written to meanwhile, in batches. The caller
 * knows that they are durable; the reading ends early at anything unreadable, such as a tail that is being cut.
 * Throws {@link RecordsGone}.
 */
export async function* readJournal(
  disk: Disk,
  dir: string,
  fromSeq: number,
  toSeq: number,
): AsyncGenerator<RecordBatch> {
  const segments = await listSegments(disk, dir);
  const start = segments.findLastIndex((segment) => segment.firstSeq <= fromSeq);
  if (start === -1) throw new RecordsGone(fromSeq);
  for (const segment of segments.slice(start)) {
    if (segment.firstSeq > toSeq) return;
    yield* readSegment(disk, segment, fromSeq, toSeq);
  }
}

async function* readSegment(
  disk: Disk,
  segment: SegmentFile,
  fromSeq: number,
  toSeq: number,
): AsyncGenerator<RecordBatch> {
  const file = await disk.open(segment.path, "read");
  try {
    let carried: Buffer = Buffer.alloc(0);
    for (let position = segmentHeaderBytes; ; ) {
      const chunk = await readChunk(file, position);
      if (chunk.length === 0) return;
      position += chunk.length;
      const bytes = Buffer.concat([carried, chunk]);
      const { batch, used } = selectRecords(bytes, fromSeq, toSeq);
      if (batch !== null) yield batch;
      if (batch?.last.seq === toSeq) return;
      carried = bytes.subarray(used);
    }
  } finally {
    await file.close();
  }
}

const readChunk = async (file: DiskFile, position: number): Promise<Buffer> => {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  return buffer.subarray(0, await file.read(buffer, position));
};

/** The wanted records among the whole entries of `bytes`, and where the first unfinished entry begins. */
const selectRecords = (bytes: Buffer, fromSeq: number, toSeq: number): { batch: RecordBatch | null; used: number } => {
  const records: JournalRecord[] = [];
  const pieces: Buffer[] = [];
  let offset = 0;
  for (let entry = readEntry(bytes, offset); entry !== "damaged"; entry = readEntry(bytes, offset)) {
    const end = offset + entryLength(bytes, offset);
    if (entry !== "syncMark" && entry.seq >= fromSeq && entry.seq <= toSeq) {
      records.push(entry);
      pieces.push(bytes.subarray(offset, end));
    }
    offset = end;
  }
  return { batch: batchOf(records, Buffer.concat(pieces)), used: offset };
};
