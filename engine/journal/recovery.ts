import { setImmediate as yieldToLoop } from "node:timers/promises";

import { FatalError } from "../process/exit.ts";
import type { Disk } from "../storage/disk.ts";
import { epochAt, type HistoryBase } from "./epochTable.ts";
import { entryLength, holdsSyncMark, type JournalRecord, type Position, readEntry } from "./record.ts";
import { discontinuity, positionOf } from "./recordBatch.ts";
import { checkSegmentHeader, listSegments, type SegmentFile, segmentHeaderBytes } from "./segmentFiles.ts";

export interface RecoveredSegment extends SegmentFile {
  readonly bytes: number;
}

export interface Recovery {
  readonly segments: readonly RecoveredSegment[];
  readonly last: Position;
}

/** Records between two turns of the event loop, so that probes are answered during a long replay. */
const recordsPerTurn = 8_192;

/**
 * Reads the journal behind `base` in order and hands every record to `visit`. A write that a crash tore is cut off
 * at the very end of the last segment; damage anywhere else ends the process, because cutting there would lose
 * records that were acknowledged. What this returns is durable. Segments that end before the base are not read.
 */
export const recoverJournal = async (
  disk: Disk,
  dir: string,
  base: HistoryBase,
  visit: (record: JournalRecord) => void,
): Promise<Recovery> => {
  const files = await listSegments(disk, dir);
  const start = files.findLastIndex(({ firstSeq }) => firstSeq <= base.position.seq + 1);
  const first = files[start];
  if (first === undefined) {
    if (files[0] === undefined) return { segments: [], last: base.position };
    throw corrupt(files[0], `the journal begins here, and what is known before ends at record ${base.position.seq}`);
  }
  const segments = await skipSegments(disk, files.slice(0, start));
  let last = { seq: first.firstSeq - 1, epoch: epochAt(base.epochs, first.firstSeq - 1) };
  for (const [index, file] of files.entries()) {
    if (index < start) continue;
    const isLast = index === files.length - 1;
    const bytes = await disk.readFile(file.path);
    if (isLast && bytes.length < segmentHeaderBytes) {
      // Its creation was interrupted before anything could be written to it.
      await disk.remove(file.path);
      await disk.syncDirectory(dir);
      break;
    }
    checkSegmentHeader(file, bytes);
    if (file.firstSeq !== last.seq + 1) {
      throw corrupt(file, `it begins at record ${file.firstSeq}, and the journal before it ends at ${last.seq}`);
    }
    const scan = await scanSegment(file, bytes, last, (record) => {
      if (record.seq > base.position.seq) visit(record);
    });
    last = scan.last;
    if (scan.end < bytes.length) {
      if (!isLast || holdsSyncMark(bytes, scan.end)) {
        throw corrupt(file, `damaged at byte ${scan.end}, after record ${last.seq}, with synced records behind it`);
      }
    }
    if (isLast) await settle(disk, file, bytes.subarray(0, scan.end), scan.lastMark);
    segments.push({ ...file, bytes: scan.end });
  }
  return { segments, last };
};

const skipSegments = async (disk: Disk, files: readonly SegmentFile[]): Promise<RecoveredSegment[]> => {
  const skipped: RecoveredSegment[] = [];
  for (const segment of files) {
    const file = await disk.open(segment.path, "read");
    try {
      skipped.push({ ...segment, bytes: await file.size() });
    } finally {
      await file.close();
    }
  }
  return skipped;
};

const scanSegment = async (
  file: SegmentFile,
  bytes: Buffer,
  after: Position,
  visit: (record: JournalRecord) => void,
): Promise<{ last: Position; end: number; lastMark: number }> => {
  let last = after;
  let offset = segmentHeaderBytes;
  // Without a mark not even the header is certain.
  let lastMark = 0;
  for (let count = 1; ; count += 1) {
    if (count % recordsPerTurn === 0) await yieldToLoop();
    const entry = readEntry(bytes, offset);
    if (entry === "damaged") return { last, end: offset, lastMark };
    if (entry === "syncMark") lastMark = offset;
    else {
      const gap = discontinuity(last, entry);
      if (gap !== null) throw corrupt(file, gap);
      visit(entry);
      last = positionOf(entry);
    }
    offset += entryLength(bytes, offset);
  }
};

/**
 * Cuts the torn end off, and makes sure of what lies behind the last sync mark: a killed process may have written it and
 * not synced it. It is written again, because a sync that failed leaves bytes that readers see, that are not on the
 * platter, and that no later sync would write.
 */
const settle = async (disk: Disk, file: SegmentFile, content: Buffer, lastMark: number): Promise<void> => {
  const handle = await disk.open(file.path, "write");
  try {
    await handle.truncate(content.length);
    if (lastMark < content.length) await handle.write([content.subarray(lastMark)], lastMark);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const corrupt = (file: SegmentFile, detail: string): FatalError =>
  new FatalError("corrupt", `${file.path}: ${detail}; rebuild this replica from another one`);
