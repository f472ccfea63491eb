import type { Timers } from "../process/timers.ts";
import type { Disk, DiskFile } from "../storage/disk.ts";
import type { FaultSwitches } from "./faultSwitches.ts";

/** `disk` with what `switches` make wrong with it. Counts run over all files and begin with the process. */
export const faultyDisk = (disk: Disk, switches: FaultSwitches, timers: Timers): Disk => {
  const { syncErrorAfter, syncStallAfter, slowSyncMs, tornWriteAfter } = switches;
  let syncs = 0;
  let writes = 0;

  const sync = async (really: () => Promise<void>): Promise<void> => {
    syncs += 1;
    if (syncStallAfter !== undefined && syncs > syncStallAfter) await new Promise<never>(() => undefined);
    if (slowSyncMs !== undefined) await new Promise<void>((resolve) => timers.after(slowSyncMs, resolve));
    if (syncErrorAfter !== undefined && syncs > syncErrorAfter) throw injected("sync");
    await really();
  };

  const write = async (file: DiskFile, bytes: readonly Uint8Array[], position: number): Promise<void> => {
    writes += 1;
    if (tornWriteAfter === undefined || writes <= tornWriteAfter) return file.write(bytes, position);
    const all = Buffer.concat(bytes);
    await file.write([all.subarray(0, all.length >> 1)], position);
    throw injected("write");
  };

  return {
    makeDirectory: (path) => disk.makeDirectory(path),
    async open(path, mode) {
      const file = await disk.open(path, mode);
      return {
        read: (buffer, position) => file.read(buffer, position),
        write: (bytes, position) => write(file, bytes, position),
        sync: () => sync(() => file.sync()),
        truncate: (length) => file.truncate(length),
        size: () => file.size(),
        close: () => file.close(),
      };
    },
    readFile: (path) => disk.readFile(path),
    readDirectory: (path) => disk.readDirectory(path),
    rename: (from, to) => disk.rename(from, to),
    remove: (path) => disk.remove(path),
    syncDirectory: (path) => sync(() => disk.syncDirectory(path)),
    freeBytes: (path) => disk.freeBytes(path),
  };
};

const injected = (what: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`EIO: a ${what} that TE_FAULTS makes fail`), { code: "EIO" });
