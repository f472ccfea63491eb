import { join } from "node:path";

import type { Disk } from "../storage/disk.ts";
import { removeDurably, writeDurably } from "../storage/durableFile.ts";
import { idOf, type Manifest, parseManifest } from "./manifest.ts";
import { readPieces, SnapshotWriter } from "./snapshotFile.ts";

/** Kept: the newest, and the one before it, in case the newest turns out damaged. */
const kept = 2;

export const snapshotsDir = (dataDir: string): string => join(dataDir, "snapshots");

export const stateFile = (dir: string, id: string): string => join(dir, `${id}.state`);

/**
 * The snapshots of a data directory. One consists of the file ID.state and of ID.json, its manifest: it exists from the
 * moment its manifest is there, and that is written when everything else is durable.
 */
export class SnapshotStore {
  readonly #disk: Disk;
  readonly #dir: string;
  /** Oldest first. */
  #manifests: Manifest[];

  private constructor(disk: Disk, dir: string, manifests: Manifest[]) {
    this.#disk = disk;
    this.#dir = dir;
    this.#manifests = manifests;
  }

  /** Finds what is there, and removes what was never finished. */
  static async open(disk: Disk, dataDir: string): Promise<SnapshotStore> {
    const dir = snapshotsDir(dataDir);
    await disk.makeDirectory(dir);
    await disk.syncDirectory(dataDir);
    const names = await disk.readDirectory(dir);
    const manifests: Manifest[] = [];
    for (const name of names.filter((each) => each.endsWith(".json"))) {
      const manifest = parseManifest(parseJson((await disk.readFile(join(dir, name))).toString("utf8")));
      if (manifest !== null && `${idOf(manifest)}.json` === name) manifests.push(manifest);
    }
    const finished = new Set(manifests.flatMap((each) => [`${idOf(each)}.json`, `${idOf(each)}.state`]));
    for (const name of names) if (!finished.has(name) && !isSetAside(name)) await disk.remove(join(dir, name));
    return new SnapshotStore(
      disk,
      dir,
      manifests.sort((a, b) => a.seq - b.seq),
    );
  }

  /** Oldest first. */
  get manifests(): readonly Manifest[] {
    return this.#manifests;
  }

  get newest(): Manifest | undefined {
    return this.#manifests.at(-1);
  }

  /** Up to this record the journal is not needed, whichever of the kept snapshots is good; 0 while there are too few. */
  get coveredSeq(): number {
    return this.#manifests.length < kept ? 0 : (this.#manifests[0]?.seq ?? 0);
  }

  /** Begins the file of a snapshot; nothing lists it before {@link add}. */
  async begin(id: string): Promise<SnapshotWriter> {
    return new SnapshotWriter(await this.#disk.open(stateFile(this.#dir, id), "create"));
  }

  /** Makes a finished file a snapshot, and removes those that are one too many. */
  async add(manifest: Manifest): Promise<void> {
    const content = Buffer.from(`${JSON.stringify(manifest)}\n`);
    await writeDurably(this.#disk, join(this.#dir, `${idOf(manifest)}.json`), content);
    this.#manifests = [...this.#manifests.filter(({ seq }) => seq !== manifest.seq), manifest];
    this.#manifests.sort((a, b) => a.seq - b.seq);
    while (this.#manifests.length > kept) await this.#removeOldest();
  }

  /** Removes the file of a snapshot that is not going to be finished. */
  async discard(id: string): Promise<void> {
    await this.#disk.remove(stateFile(this.#dir, id));
  }

  /** Snapshots before `manifest` do not connect to the journal any more. */
  async removeBefore(manifest: Manifest): Promise<void> {
    while ((this.#manifests[0]?.seq ?? manifest.seq) < manifest.seq) await this.#removeOldest();
  }

  /** Keeps a damaged snapshot for people to look at, where nothing uses it. */
  async setAside(manifest: Manifest): Promise<void> {
    const id = idOf(manifest);
    this.#manifests = this.#manifests.filter((each) => each !== manifest);
    await this.#disk.rename(join(this.#dir, `${id}.json`), join(this.#dir, `${id}.json.damaged`));
    await this.#disk.rename(stateFile(this.#dir, id), `${stateFile(this.#dir, id)}.damaged`);
    await this.#disk.syncDirectory(this.#dir);
  }

  /** The state's pieces as they were written. Throws a DamagedSnapshot, or what the disk throws. */
  read(manifest: Manifest): AsyncGenerator<Buffer> {
    return readPieces(this.#disk, stateFile(this.#dir, idOf(manifest)), manifest);
  }

  /** Bytes of a snapshot's file from `offset`, at most `length`. */
  async readChunk(id: string, offset: number, length: number): Promise<Buffer> {
    const file = await this.#disk.open(stateFile(this.#dir, id), "read");
    try {
      const bytes = Buffer.allocUnsafe(length);
      return bytes.subarray(0, await file.read(bytes, offset));
    } finally {
      await file.close();
    }
  }

  async #removeOldest(): Promise<void> {
    const oldest = this.#manifests.shift();
    if (oldest === undefined) return;
    // The manifest first: a file without one is nothing.
    await removeDurably(this.#disk, join(this.#dir, `${idOf(oldest)}.json`));
    await this.#disk.remove(stateFile(this.#dir, idOf(oldest)));
  }
}

const isSetAside = (name: string): boolean => name.endsWith(".damaged");

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
