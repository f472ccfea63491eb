import { join } from "node:path";

import { FatalError } from "../process/exit.ts";
import type { Disk } from "../storage/disk.ts";

/** A segment is one file of the journal, named by the first sequence number that it may hold. */
export interface SegmentFile {
  readonly path: string;
  readonly firstSeq: number;
}

const formatVersion = 2;
const magic = Buffer.from("TEJOURNL", "latin1");
/** Magic, format version, reserved. */
export const segmentHeaderBytes = 16;

const segmentHeader = (): Buffer => {
  const header = Buffer.alloc(segmentHeaderBytes);
  magic.copy(header);
  header.writeUInt32LE(formatVersion, magic.length);
  return header;
};

const namePattern = /^(\d{16})\.log$/;

export const segmentFile = (dir: string, firstSeq: number): SegmentFile => ({
  path: join(dir, `${String(firstSeq).padStart(16, "0")}.log`),
  firstSeq,
});

/** The segments in `dir`, oldest first. */
export const listSegments = async (disk: Disk, dir: string): Promise<SegmentFile[]> =>
  (await disk.readDirectory(dir))
    .map((name) => namePattern.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map((digits) => segmentFile(dir, Number(digits)))
    .sort((a, b) => a.firstSeq - b.firstSeq);

/** Creates an empty segment; after this returned a crash does not lose it. */
export const createSegment = async (disk: Disk, dir: string, firstSeq: number): Promise<SegmentFile> => {
  const segment = segmentFile(dir, firstSeq);
  const file = await disk.open(segment.path, "create");
  try {
    await file.write([segmentHeader()], 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await disk.syncDirectory(dir);
  return segment;
};

/** Throws unless `bytes` begin like a segment that this release can read. */
export const checkSegmentHeader = (segment: SegmentFile, bytes: Buffer): void => {
  if (bytes.length < segmentHeaderBytes || !bytes.subarray(0, magic.length).equals(magic)) {
    throw new FatalError("corrupt", `${segment.path} is not a journal segment`);
  }
  const version = bytes.readUInt32LE(magic.length);
  if (version < formatVersion) {
    // Its checksums would hold, and its orders would be read as others.
    throw new FatalError(
      "corrupt",
      `${segment.path} has journal format ${version}, of before the first release, which nothing reads any more`,
    );
  }
  if (version > formatVersion) {
    throw new FatalError(
      "formatTooNew",
      `${segment.path} has journal format ${version} and this release reads up to ${formatVersion}`,
    );
  }
};
