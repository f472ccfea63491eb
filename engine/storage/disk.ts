/** How a file is opened: `write` needs the file to exist, `create` makes it anew and empty. */
export type OpenMode = "read" | "write" | "create";

/**
 * The disk as the engine needs it, with the guarantees of a POSIX file system and not one more. A written byte survives
 * a crash only after {@link DiskFile.sync}; the creation, renaming or removal of a file only after
 * {@link Disk.syncDirectory}. Every failure is an error of the operating system with its `code`.
 */
export interface Disk {
  /** Creates `path` and the directories above it, as far as they are missing. */
  makeDirectory(path: string): Promise<void>;
  open(path: string, mode: OpenMode): Promise<DiskFile>;
  /** The whole content. Fails with ENOENT when there is no such file. */
  readFile(path: string): Promise<Buffer>;
  /** The names in a directory, in no order. */
  readDirectory(path: string): Promise<string[]>;
  /** Replaces `to`, if there is one, in a single step. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  syncDirectory(path: string): Promise<void>;
  /** What may still be written to the file system of `path`. */
  freeBytes(path: string): Promise<number>;
}

export interface DiskFile {
  /** Fills `buffer` from `position` and answers how many bytes there were; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  /** Writes all of `bytes` at `position`, with one call to the system while that takes them. */
  write(bytes: readonly Uint8Array[], position: number): Promise<void>;
  /** Makes everything written survive a crash. After a failure nobody knows what did: it must not be tried again. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}
