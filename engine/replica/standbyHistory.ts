import type { Journal } from "../journal/journal.ts";
import { decodeBatch } from "../journal/recordBatch.ts";
import type { EngineConfig } from "../process/config.ts";
import { FatalError } from "../process/exit.ts";
import type { Log } from "../process/log.ts";
import type { Hello } from "../replication/handshake.ts";
import type { SnapshotTransfer, SnapshotTransferOptions } from "../replication/snapshotTransfer.ts";
import type { UpstreamConsumer } from "../replication/upstreamLink.ts";
import type { Manifest } from "../snapshots/manifest.ts";
import type { ReplicaSnapshots } from "../snapshots/replicaSnapshots.ts";
import type { SnapshotFetch } from "../snapshots/snapshotFetch.ts";
import type { PromisedEpoch } from "../storage/promisedEpoch.ts";
import type { CommitQueue } from "./commitQueue.ts";

export interface StandbyHistoryOptions {
  readonly config: Pick<EngineConfig, "clusterUid" | "instance" | "token">;
  readonly journal: Journal;
  readonly queue: CommitQueue;
  readonly snapshots: ReplicaSnapshots;
  readonly promised: PromisedEpoch;
  readonly log: Log;
  readonly onChange: () => void;
  /** The process must end. */
  readonly onFailure: (error: FatalError) => void;
}

/** A standby's history as its primary fills it: cut where the two part, then continued record by record. */
export class StandbyHistory implements UpstreamConsumer {
  readonly #options: StandbyHistoryOptions;

  constructor(options: StandbyHistoryOptions) {
    this.#options = options;
  }

  hello(epoch: number): Hello {
    const { config, journal, promised } = this.#options;
    const { clusterUid, instance, token } = config;
    return { token, clusterUid, instance, epoch, promised: promised.value, history: journal.epochTable };
  }

  async cutAfter(commonEnd: number): Promise<void> {
    const { journal, queue, log } = this.#options;
    if (commonEnd < queue.committed) throw this.#diverged(commonEnd);
    const cut = await journal.cutAfter(commonEnd);
    if (cut === null) return;
    queue.cutAfter(commonEnd);
    log.warn("cut a tail that the new primary never had", { ...cut });
  }

  receive(bytes: Buffer, committed: number): void {
    const { journal, queue } = this.#options;
    const batch = decodeBatch(bytes, journal.last);
    journal.append(batch);
    for (const record of batch.records) queue.add(record, null);
    queue.advance(committed);
  }

  fetch(snapshot: Manifest): Promise<SnapshotFetch> {
    return this.#options.snapshots.fetch(snapshot);
  }

  install(snapshot: Manifest): Promise<void> {
    return this.#options.snapshots.install(snapshot);
  }

  newestSnapshot(): Manifest | undefined {
    return this.#options.snapshots.store.newest;
  }

  transfer(send: SnapshotTransferOptions["send"]): SnapshotTransfer {
    return this.#options.snapshots.transfer(send);
  }

  learnCommitted(committed: number): void {
    this.#options.queue.advance(committed);
  }

  durableSeq(): number {
    return this.#options.journal.durable.seq;
  }

  connectionChanged(): void {
    this.#options.onChange();
  }

  /** Going on would mean to serve a state that no other replica has. */
  #diverged(commonEnd: number): FatalError {
    const { queue, onFailure } = this.#options;
    const error = new FatalError(
      "diverged",
      `the primary shares the history up to record ${commonEnd}, and record ${queue.committed} is committed here; ` +
        "empty this replica's volume to rebuild it",
    );
    onFailure(error);
    return error;
  }
}
