import type { Disk, DiskFile, OpenMode } from "../../storage/disk.ts";
import { errno, type FileNode, FileSystem } from "./fileSystem.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimulatedProcess } from "./simulatedProcess.ts";

/** What is wrong with a disk at the moment. A test sets it at will. */
export interface DiskFaults {
  /** Syncs that fail from now on, each with EIO. */
  failingSyncs: number;
  /** Times by which everything takes longer. */
  slowness: number;
  /** More than this does not fit. */
  capacityBytes: number;
}

interface Unfinished {
  readonly process: SimulatedProcess;
  readonly file: FileNode;
  readonly change: number;
  readonly bytes: number;
}

/** The disk of one machine, which outlives the processes that use it. */
export class SimulatedDisk {
  readonly faults: DiskFaults = { failingSyncs: 0, slowness: 1, capacityBytes: Number.POSITIVE_INFINITY };
  /** Files and directories that a sync does nothing for, although it says otherwise. */
  liesAbout: (path: string) => boolean = () => false;
  /** A file is never cut, although the disk says otherwise. */
  keepsTails = false;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #files: FileSystem;
  readonly #unfinished = new Set<Unfinished>();
  /** What waits while the disk hangs; null while it does not. */
  #hanging: (() => void)[] | null = null;

  constructor(scheduler: Scheduler, random: Random, mount: string) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#files = new FileSystem(mount);
  }

  /** Leaves room for `bytes` more. */
  fill(bytes: number): void {
    this.faults.capacityBytes = this.#files.used + bytes;
  }

  /** Nothing is finished any more until {@link recover}. */
  hang(): void {
    this.#hanging ??= [];
  }

  recover(): void {
    const waiting = this.#hanging ?? [];
    this.#hanging = null;
    for (const finish of waiting) this.#scheduler.after(0, finish);
  }

  /** The process has ended; what it had written stays in memory, but a write under way may have stopped anywhere. */
  loseProcess(process: SimulatedProcess): void {
    for (const write of this.#unfinished) {
      if (write.process !== process) continue;
      this.#unfinished.delete(write);
      if (this.#random.chance(0.5)) {
        this.#files.cutShort(write.file, write.change, this.#random.integer(0, write.bytes));
      }
    }
  }

  /** The machine has lost power: only what was synced is there for certain. */
  losePower(): void {
    this.#unfinished.clear();
    this.#hanging = null;
    this.#files.losePower(this.#random);
  }

  /** The disk as `process` uses it. */
  of(process: SimulatedProcess): Disk {
    const files = this.#files;
    const perform = <T>(effect: () => T, ms: number): Promise<T> => this.#perform(process, effect, ms);
    return {
      makeDirectory: (path) => perform(() => files.makeDirectory(path), this.#metadataMs()),
      open: (path, mode) => perform(() => this.#open(process, path, mode), this.#metadataMs()),
      readFile: (path) => perform(() => Buffer.from(files.file(path).content), this.#metadataMs()),
      readDirectory: (path) => perform(() => files.names(path), this.#metadataMs()),
      rename: (from, to) => perform(() => files.rename(from, to), this.#metadataMs()),
      remove: (path) => perform(() => files.remove(path), this.#metadataMs()),
      syncDirectory: (path) =>
        perform(() => {
          if (this.#syncFails()) throw errno("EIO", path);
          if (!this.liesAbout(path)) files.syncDirectory(path);
        }, this.#syncMs()),
      freeBytes: () => perform(() => Math.max(0, this.faults.capacityBytes - files.used), this.#metadataMs()),
    };
  }

  #open(process: SimulatedProcess, path: string, mode: OpenMode): DiskFile {
    const files = this.#files;
    const file = mode === "create" ? files.create(path) : files.file(path);
    const perform = <T>(effect: () => T, ms: number): Promise<T> => this.#perform(process, effect, ms);
    return {
      read: (buffer, position) =>
        perform(() => file.content.copy(buffer, 0, position, position + buffer.length), this.#metadataMs()),
      write: (bytes, position) => this.#write(process, file, path, Buffer.concat(bytes), position),
      sync: () => {
        const last = files.latest;
        return perform(() => {
          if (this.#syncFails()) {
            files.failSync(file, this.#random);
            throw errno("EIO", path);
          }
          if (!this.liesAbout(path)) files.sync(file, last);
        }, this.#syncMs());
      },
      truncate: (length) =>
        perform(() => {
          if (!this.keepsTails) files.truncate(file, length);
        }, this.#metadataMs()),
      size: () => perform(() => file.content.length, this.#metadataMs()),
      close: () => perform(() => undefined, this.#metadataMs()),
    };
  }

  /** The bytes are in memory at once, where a crash of the machine finds them; the process hears of it later. */
  #write(process: SimulatedProcess, file: FileNode, path: string, bytes: Buffer, position: number): Promise<void> {
    if (!process.mayAct()) return never();
    const room = this.faults.capacityBytes - this.#files.used;
    const growth = position + bytes.length - file.content.length;
    const fitting = growth <= room ? bytes : bytes.subarray(0, Math.max(0, bytes.length - (growth - room)));
    const write = { process, file, change: this.#files.write(file, position, fitting), bytes: fitting.length };
    this.#unfinished.add(write);
    return this.#finish(
      process,
      () => {
        this.#unfinished.delete(write);
        if (fitting.length < bytes.length) throw errno("ENOSPC", path);
      },
      this.#random.between(0.005, 0.05),
    );
  }

  #perform<T>(process: SimulatedProcess, effect: () => T, milliseconds: number): Promise<T> {
    return process.mayAct() ? this.#finish(process, effect, milliseconds) : never();
  }

  #finish<T>(process: SimulatedProcess, effect: () => T, milliseconds: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        if (this.#hanging !== null) {
          this.#hanging.push(finish);
          return;
        }
        // The system does not go on with what an ended process had asked for and it had not begun.
        if (process.ended) return;
        try {
          const value = effect();
          process.deliver(() => resolve(value));
        } catch (error) {
          process.deliver(() => reject(error instanceof Error ? error : new Error(String(error))));
        }
      };
      this.#scheduler.after(milliseconds * this.faults.slowness, finish);
    });
  }

  #syncFails(): boolean {
    if (this.faults.failingSyncs === 0) return false;
    this.faults.failingSyncs -= 1;
    return true;
  }

  #metadataMs(): number {
    return this.#random.between(0.005, 0.05);
  }

  #syncMs(): number {
    return this.#random.chance(0.05) ? this.#random.between(2, 15) : this.#random.between(0.1, 1);
  }
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
