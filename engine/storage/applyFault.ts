import { join } from "node:path";

import { FatalError } from "../process/exit.ts";
import type { Disk } from "./disk.ts";
import { readIfPresent, removeDurably, writeDurably } from "./durableFile.ts";

/** A record that ended this replica's process while it was applied. */
export interface ApplyFault {
  readonly seq: number;
  /** The build that failed on it: another one may do better. */
  readonly build: string;
  /** Processes of this replica that this build lost to this record. */
  readonly deaths: number;
  readonly error: string;
}

/** One death may have been the memory's fault; the second at the same record is the record's, and so would a third be. */
const deathsThatHalt = 2;

/** What this replica remembers of the record that it died of, in a file that outlives the process and the pod. */
export class LastApply {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #build: string;
  #found: ApplyFault | null;

  private constructor(disk: Disk, path: string, build: string, found: ApplyFault | null) {
    this.#disk = disk;
    this.#path = path;
    this.#build = build;
    this.#found = found;
  }

  /** @param build of this process: a fault of another build is forgiven. */
  static async load(disk: Disk, dataDir: string, build: string): Promise<LastApply> {
    const path = join(dataDir, "last-apply");
    const text = await readIfPresent(disk, path);
    return new LastApply(disk, path, build, text === null ? null : parse(path, text));
  }

  /** The fault of this very build; null when there is none, or when it was another build's. */
  get fault(): ApplyFault | null {
    return this.#found?.build === this.#build ? this.#found : null;
  }

  /** The fault that forbids this process to apply anything from its record on. */
  get halting(): ApplyFault | null {
    const { fault } = this;
    return fault !== null && fault.deaths >= deathsThatHalt ? fault : null;
  }

  /** Remembers that this process is about to end because of record `seq`. */
  async remember(seq: number, error: string): Promise<void> {
    const deaths = this.fault?.seq === seq ? this.fault.deaths + 1 : 1;
    this.#found = { seq, build: this.#build, deaths, error };
    await writeDurably(this.#disk, this.#path, Buffer.from(`${JSON.stringify(this.#found)}\n`));
  }

  /** Forgets the fault once its record is applied. To be called at every heartbeat. */
  async noticeApplied(appliedSeq: number): Promise<void> {
    if (this.#found === null || appliedSeq < this.#found.seq) return;
    this.#found = null;
    await removeDurably(this.#disk, this.#path);
  }
}

const parse = (path: string, text: string): ApplyFault => {
  try {
    const { seq, build, deaths, error } = JSON.parse(text) as Partial<ApplyFault>;
    if (Number.isSafeInteger(seq) && Number.isSafeInteger(deaths) && typeof build === "string") {
      return { seq: Number(seq), deaths: Number(deaths), build, error: String(error) };
    }
  } catch {
    // Said below: whatever it holds, no engine wrote it.
  }
  throw new FatalError("corrupt", `${path} does not say which record ended this replica; remove it to try again`);
};
