import { createHash, type Hash } from "node:crypto";

import type { Disk, DiskFile } from "../storage/disk.ts";

/**
 * A snapshot's file is a sequence of pieces, each behind its length as u32, little endian: the pieces come
 * out as they went in, whatever the size of the reads and of the network's chunks.
 */
const prefixBytes = 4;
const mostPieceBytes = 16 * 1024 * 1024;

/** The file does not hold what its manifest says. */
export class DamagedSnapshot extends Error {
  constructor(detail: string) {
    super(`the snapshot is damaged: ${detail}`);
    this.name = "DamagedSnapshot";
  }
}

/** Writes a snapshot's file from its beginning to its end. */
export class SnapshotWriter {
  readonly #file: DiskFile;
  readonly #digest: Hash = createHash("sha256");
  #bytes = 0;

  constructor(file: DiskFile) {
    this.#file = file;
  }

  /** Bytes written. */
  get bytes(): number {
    return this.#bytes;
  }

  async addPiece(piece: Buffer): Promise<void> {
    const prefix = Buffer.allocUnsafe(prefixBytes);
    prefix.writeUInt32LE(piece.length);
    await this.addBytes(prefix, piece);
  }

  /** Continues the file as it is on another replica. */
  async addBytes(...bytes: readonly Buffer[]): Promise<void> {
    await this.#file.write(bytes, this.#bytes);
    for (const each of bytes) {
      this.#digest.update(each);
      this.#bytes += each.length;
    }
  }

  /** Makes the file durable, and answers its SHA-256. */
  async finish(): Promise<string> {
    await this.#file.sync();
    await this.#file.close();
    return this.#digest.digest("hex");
  }

  abandon(): Promise<void> {
    return this.#file.close();
  }
}

/** The pieces of the file at `path`. Throws {@link DamagedSnapshot}, at the latest behind the last piece. */
export async function* readPieces(
  disk: Disk,
  path: string,
  expected: { readonly bytes: number; readonly sha256: string },
): AsyncGenerator<Buffer> {
  const file = await disk.open(path, "read");
  try {
    const size = await file.size();
    if (size !== expected.bytes) throw new DamagedSnapshot(`${size} bytes instead of ${expected.bytes}`);
    const digest = createHash("sha256");
    for (let position = 0; position < size; ) {
      const prefix = await readExactly(file, position, prefixBytes);
      const length = prefix.readUInt32LE();
      if (length > mostPieceBytes) throw new DamagedSnapshot(`a piece of ${length} bytes`);
      const piece = await readExactly(file, position + prefixBytes, length);
      digest.update(prefix).update(piece);
      position += prefixBytes + length;
      yield piece;
    }
    if (digest.digest("hex") !== expected.sha256) throw new DamagedSnapshot("its checksum differs");
  } finally {
    await file.close();
  }
}

const readExactly = async (file: DiskFile, position: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafe(length);
  if ((await file.read(bytes, position)) < length) throw new DamagedSnapshot("it ends inside a piece");
  return bytes;
};
