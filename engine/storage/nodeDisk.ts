import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, statfs } from "node:fs/promises";

import type { Disk, DiskFile, OpenMode } from "./disk.ts";

const flags = { read: "r", write: "r+", create: "w" } as const satisfies Record<OpenMode, string>;

/** The machine's own file systems. */
export const nodeDisk: Disk = {
  async makeDirectory(path) {
    await mkdir(path, { recursive: true });
  },

  async open(path, mode) {
    return new NodeFile(await open(path, flags[mode]));
  },

  readFile: (path) => readFile(path),

  readDirectory: (path) => readdir(path),

  rename: (from, to) => rename(from, to),

  remove: (path) => rm(path),

  async syncDirectory(path) {
    const directory = await open(path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },

  async freeBytes(path) {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  },
};

class NodeFile implements DiskFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    return (await this.#handle.read(buffer, 0, buffer.length, position)).bytesRead;
  }

  async write(bytes: readonly Uint8Array[], position: number): Promise<void> {
    const length = bytes.reduce((sum, piece) => sum + piece.length, 0);
    const { bytesWritten } = await this.#handle.writev(bytes, position);
    // A write that stops short does not say why; asking for the rest does.
    if (bytesWritten < length) await this.#writeRest(Buffer.concat(bytes), bytesWritten, position);
  }

  /** The size of the file is synced with its data; times are not, and nothing reads them. */
  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  truncate(length: number): Promise<void> {
    return this.#handle.truncate(length);
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #writeRest(bytes: Buffer, written: number, position: number): Promise<void> {
    for (let done = written; done < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, position + done);
      done += bytesWritten;
    }
  }
}
