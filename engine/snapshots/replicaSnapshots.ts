import { emptyHistory, type HistoryBase } from "../journal/epochTable.ts";
import type { Journal } from "../journal/journal.ts";
import { FatalError } from "../process/exit.ts";
import { type Log, messageOf } from "../process/log.ts";
import type { Timers } from "../process/timers.ts";
import type { CommitQueue } from "../replica/commitQueue.ts";
import { SnapshotTransfer, type SnapshotTransferOptions } from "../replication/snapshotTransfer.ts";
import type { Disk } from "../storage/disk.ts";
import { baseOf, idOf, type Manifest, snapshotFormat } from "./manifest.ts";
import { SnapshotCollector } from "./snapshotCollector.ts";
import { SnapshotFetch } from "./snapshotFetch.ts";
import { SnapshotStore } from "./snapshotStore.ts";
import { type SnapshotSource, SnapshotTaker } from "./snapshotTaker.ts";

/** The replicated state, as snapshots see it. */
export interface SnapshotState extends SnapshotSource {
  hashAt(seq: number): string | null;
  /** Replaces the whole state. Throws on damage, and the old state stays. */
  restore(pieces: AsyncIterable<Buffer>): Promise<void>;
}

export interface ReplicaSnapshotsOptions {
  readonly disk: Disk;
  readonly dataDir: string;
  readonly state: SnapshotState;
  readonly queue: CommitQueue;
  readonly build: string;
  /** A standby takes one when it has applied so many records since the last. */
  readonly everyRecords: number;
  readonly timers: Timers;
  readonly log: Log;
  /** This replica has a new snapshot, which its primary may want. */
  readonly onTaken: (manifest: Manifest) => void;
  readonly onChange: () => void;
  readonly onFailure: (error: FatalError) => void;
}

/** The snapshots of one replica: loaded at its start, taken, fetched and served while it runs. */
export class ReplicaSnapshots {
  readonly store: SnapshotStore;
  readonly taker: SnapshotTaker;
  readonly #options: ReplicaSnapshotsOptions;
  readonly #collector: SnapshotCollector;
  #journal: Journal | null = null;
  #warning: string | null = null;
  /** What a closed connection brought. */
  #partial: SnapshotFetch | null = null;

  private constructor(store: SnapshotStore, options: ReplicaSnapshotsOptions) {
    const { disk, dataDir, state, queue, build, timers, log, onTaken, onChange, onFailure } = options;
    this.store = store;
    this.#options = options;
    this.taker = new SnapshotTaker({
      store,
      source: state,
      pause: () => queue.pause(),
      resume: () => queue.resume(),
      epochs: () => this.#journal?.epochTable.entries ?? [],
      flushed: () => this.#journal?.flushed() ?? Promise.resolve(),
      freeBytes: () => disk.freeBytes(dataDir),
      build,
      timers,
      log,
      onTaken: (manifest) => {
        this.#forgetCovered();
        onTaken(manifest);
      },
      onChange,
      onFailure,
    });
    this.#collector = new SnapshotCollector({
      store,
      history: () => this.#journal?.epochTable ?? { entries: [], end: 0 },
      appliedSeq: () => state.appliedSeq,
      hashAt: (seq) => state.hashAt(seq),
      log,
      onAdded: () => {
        this.#forgetCovered();
        onChange();
      },
    });
  }

  static async open(options: ReplicaSnapshotsOptions): Promise<ReplicaSnapshots> {
    return new ReplicaSnapshots(await SnapshotStore.open(options.disk, options.dataDir), options);
  }

  /** What a person should know of these snapshots; null when all is well. */
  get warning(): string | null {
    return this.#warning ?? this.taker.lastFailure;
  }

  /**
   * Loads the newest snapshot that is good, and answers the history that it holds. A damaged one is set aside: the journal
   * reaches back to the one before. Throws a {@link FatalError} when this release cannot read the newest.
   */
  async load(): Promise<HistoryBase> {
    for (const manifest of this.store.manifests.toReversed()) {
      refuseLaterFormat(manifest);
      if (await this.#tryLoad(manifest)) return baseOf(manifest);
    }
    return emptyHistory;
  }

  /** The journal is open: from now on snapshots can be taken, and cut it. */
  attach(journal: Journal): void {
    this.#journal = journal;
    this.#forgetCovered();
  }

  /** To be called at every heartbeat; takes a snapshot when one is due and applying may stand still. */
  tick(mayPause: boolean): void {
    const { state, everyRecords, log } = this.#options;
    const since = state.appliedSeq - (this.store.newest?.seq ?? 0);
    if (!mayPause || since < everyRecords || this.taker.taking !== null || this.#partial !== null) return;
    this.taker.begin().catch((error: unknown) => {
      const reason = messageOf(error);
      if (this.#warning !== reason) log.warn("no snapshot is taken", { error: reason });
      this.#warning = reason;
    });
  }

  /** Snapshots over one replication connection. */
  transfer(send: SnapshotTransferOptions["send"]): SnapshotTransfer {
    const { timers, log } = this.#options;
    return new SnapshotTransfer({ store: this.store, timers, log, send });
  }

  /** A follower of this primary has taken a snapshot. */
  offered(manifest: unknown, transfer: SnapshotTransfer): void {
    void this.#collector.offered(manifest, (fetch) => transfer.run(fetch));
  }

  /** What is to be fetched of `manifest`: everything, or the rest of what a closed connection brought. */
  async fetch(manifest: Manifest): Promise<SnapshotFetch> {
    refuseLaterFormat(manifest);
    await this.taker.abandon();
    if (this.#partial?.manifest.sha256 === manifest.sha256 && this.#partial.next !== null) return this.#partial;
    await this.#partial?.abandon().catch(() => undefined);
    this.#partial = await SnapshotFetch.begin(this.store, manifest);
    return this.#partial;
  }

  /** Replaces journal and state by a snapshot that is here and ahead of both. */
  async install(manifest: Manifest): Promise<void> {
    this.#partial = null;
    if (this.#journal === null) throw new Error("a snapshot is installed beside an open journal");
    if (!(await this.#tryLoad(manifest))) throw new Error(this.#warning ?? "the snapshot cannot be loaded");
    // A crash from here on finds a journal that ends before its newest snapshot, and begins it anew.
    await this.#journal.restartAfter(baseOf(manifest));
    await this.store.removeBefore(manifest);
    this.#warning = null;
    this.#options.log.info("continues behind a snapshot of the primary", { snapshot: idOf(manifest) });
    this.#options.onChange();
  }

  async #tryLoad(manifest: Manifest): Promise<boolean> {
    const { state, queue, log, onChange } = this.#options;
    try {
      await state.restore(this.store.read(manifest));
      const { seq, hash } = state.lastHash;
      if (seq !== manifest.seq || hash !== manifest.hash) {
        throw new Error(`it holds the state of record ${seq} with hash ${hash}`);
      }
    } catch (error) {
      this.#warning = `snapshot ${idOf(manifest)} is damaged and was set aside: ${messageOf(error)}`;
      log.error("a snapshot cannot be loaded", { snapshot: idOf(manifest), error: messageOf(error) });
      await this.store.setAside(manifest);
      onChange();
      return false;
    }
    queue.restartAfter(manifest.seq);
    return true;
  }

  #forgetCovered(): void {
    // A failure ends the process, which the journal sees to itself.
    this.#journal?.forgetUpTo(this.store.coveredSeq).catch(() => undefined);
  }
}

const refuseLaterFormat = (manifest: Manifest): void => {
  if (manifest.formats.snapshot <= snapshotFormat) return;
  throw new FatalError(
    "formatTooNew",
    `snapshot ${idOf(manifest)} has format ${manifest.formats.snapshot} and this release reads up to ${snapshotFormat}`,
  );
};
