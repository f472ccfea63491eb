import { join } from "node:path";

import { diskFailure, FatalError } from "../process/exit.ts";
import type { Disk } from "./disk.ts";
import { readIfPresent, writeDurably } from "./durableFile.ts";

/** The lowest epoch that this replica still takes part in. On disk it never falls. */
export class PromisedEpoch {
  readonly #disk: Disk;
  readonly #path: string;
  #value: number;
  #durable: number;

  private constructor(disk: Disk, path: string, value: number) {
    this.#disk = disk;
    this.#path = path;
    this.#value = value;
    this.#durable = value;
  }

  static async load(disk: Disk, dataDir: string): Promise<PromisedEpoch> {
    const path = join(dataDir, "promised-epoch");
    const text = await readIfPresent(disk, path);
    if (text === null) return new PromisedEpoch(disk, path, 0);
    if (!/^\d{1,10}\n$/.test(text)) {
      throw new FatalError("corrupt", `${path} does not hold an epoch number; it must not be repaired by guessing`);
    }
    return new PromisedEpoch(disk, path, Number(text));
  }

  get value(): number {
    return this.#value;
  }

  /** What a crash does not make this replica forget. */
  get durable(): number {
    return this.#durable;
  }

  /** Refuse epochs below `epoch` from this moment on, before the disk knows: refusing too early harms nothing. */
  raise(epoch: number): void {
    this.#value = Math.max(this.#value, epoch);
  }

  /** Resolves once what was raised survives a crash; only then may the promise be told to anyone. */
  async persist(): Promise<void> {
    const value = this.#value;
    if (value === this.#durable) return;
    try {
      await writeDurably(this.#disk, this.#path, Buffer.from(`${value}\n`));
    } catch (error) {
      throw diskFailure("write the promised epoch", error);
    }
    this.#durable = value;
  }
}
