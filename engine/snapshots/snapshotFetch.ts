import { idOf, type Manifest } from "./manifest.ts";
import type { SnapshotWriter } from "./snapshotFile.ts";
import type { SnapshotStore } from "./snapshotStore.ts";

/** Bytes that one request asks for: the other side reads and sends them in one turn. */
export const chunkBytes = 256 * 1024;

/** A snapshot arrived otherwise than its manifest says. */
export class BadSnapshot extends Error {
  constructor(manifest: Manifest, detail: string) {
    super(`snapshot ${idOf(manifest)} from the peer is unusable: ${detail}`);
    this.name = "BadSnapshot";
  }
}

/**
 * A snapshot on its way from a peer: one request is under way at a time, and the next follows when the answer
 * is written, so that neither side has more than one chunk to carry. A new connection goes on where the last one ended.
 */
export class SnapshotFetch {
  readonly manifest: Manifest;
  readonly #store: SnapshotStore;
  readonly #writer: SnapshotWriter;

  private constructor(store: SnapshotStore, manifest: Manifest, writer: SnapshotWriter) {
    this.#store = store;
    this.manifest = manifest;
    this.#writer = writer;
  }

  static async begin(store: SnapshotStore, manifest: Manifest): Promise<SnapshotFetch> {
    return new SnapshotFetch(store, manifest, await store.begin(idOf(manifest)));
  }

  /** What to ask for next; null when everything is there. */
  get next(): { readonly id: string; readonly offset: number } | null {
    if (this.#writer.bytes >= this.manifest.bytes) return null;
    return { id: idOf(this.manifest), offset: this.#writer.bytes };
  }

  get receivedBytes(): number {
    return this.#writer.bytes;
  }

  /** Takes the answer to {@link next}. Throws {@link BadSnapshot}. */
  async receive(offset: number, bytes: Buffer): Promise<void> {
    // An answer to a question of an earlier connection.
    if (offset !== this.#writer.bytes) return;
    if (bytes.length === 0) throw new BadSnapshot(this.manifest, `it ends at byte ${offset}`);
    await this.#writer.addBytes(bytes);
  }

  /** Makes what arrived a snapshot of this replica. Throws {@link BadSnapshot}. */
  async finish(): Promise<void> {
    const sha256 = await this.#writer.finish();
    if (sha256 !== this.manifest.sha256 || this.#writer.bytes !== this.manifest.bytes) {
      await this.#store.discard(idOf(this.manifest));
      throw new BadSnapshot(this.manifest, "its checksum differs");
    }
    await this.#store.add(this.manifest);
  }

  async abandon(): Promise<void> {
    await this.#writer.abandon();
    await this.#store.discard(idOf(this.manifest));
  }
}
