import { commonEnd, type EpochTable } from "../journal/epochTable.ts";
import { type Log, messageOf } from "../process/log.ts";
import { idOf, type Manifest, parseManifest, snapshotFormat } from "./manifest.ts";
import { SnapshotFetch } from "./snapshotFetch.ts";
import type { SnapshotStore } from "./snapshotStore.ts";

export interface SnapshotCollectorOptions {
  readonly store: SnapshotStore;
  readonly history: () => EpochTable;
  readonly appliedSeq: () => number;
  /** The own state hash at a record; null when it is not known any more. */
  readonly hashAt: (seq: number) => string | null;
  readonly log: Log;
  readonly onAdded: () => void;
}

/**
 * A primary takes no snapshots, since that would stop its trading: it fetches those that its followers took. Without them
 * its journal would grow for ever, and it could help nobody who is too far behind.
 */
export class SnapshotCollector {
  readonly #options: SnapshotCollectorOptions;
  #busy = false;

  constructor(options: SnapshotCollectorOptions) {
    this.#options = options;
  }

  /** A follower offers a snapshot, and `run` would fetch it. Resolves when that is done or was not wanted. */
  async offered(body: unknown, run: (fetch: SnapshotFetch) => Promise<void>): Promise<void> {
    const manifest = parseManifest(body);
    if (manifest === null || this.#busy || !this.#wants(manifest)) return;
    this.#busy = true;
    try {
      const fetch = await SnapshotFetch.begin(this.#options.store, manifest);
      await run(fetch).catch(async (error: unknown) => {
        await fetch.abandon().catch(() => undefined);
        throw error;
      });
      this.#options.log.info("fetched a snapshot from a follower", { snapshot: idOf(manifest) });
      this.#options.onAdded();
    } catch (error) {
      // The next one is offered soon enough.
      this.#options.log.warn("a snapshot was not fetched", { snapshot: idOf(manifest), error: messageOf(error) });
    } finally {
      this.#busy = false;
    }
  }

  #wants(manifest: Manifest): boolean {
    const { store, history, appliedSeq, hashAt, log } = this.#options;
    if (manifest.formats.snapshot > snapshotFormat) return false;
    if (manifest.seq <= (store.newest?.seq ?? 0) || manifest.seq > appliedSeq()) return false;
    if (commonEnd(history(), { entries: manifest.epochTable, end: manifest.seq }) !== manifest.seq) return false;
    const own = hashAt(manifest.seq);
    if (own === null || own === manifest.hash) return true;
    log.error("a follower's state differs from the primary's", { snapshot: idOf(manifest), hash: manifest.hash, own });
    return false;
  }
}
