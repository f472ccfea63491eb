import { Exchange } from "../exchange/exchange.ts";
import { type Journal, openJournal } from "../journal/journal.ts";
import type { JournalRecord } from "../journal/record.ts";
import { CommitQueue, type CommitQueueOptions } from "../replica/commitQueue.ts";
import { Replica, type ReplicaConfig } from "../replica/replica.ts";
import type { Network } from "../replication/network.ts";
import { ReplicationServer } from "../replication/replicationServer.ts";
import { snapshotStateOf } from "../snapshots/exchangeState.ts";
import { ReplicaSnapshots } from "../snapshots/replicaSnapshots.ts";
import { type ApplyFault, LastApply } from "../storage/applyFault.ts";
import type { Disk } from "../storage/disk.ts";
import { claimDataDirectory } from "../storage/identity.ts";
import { PromisedEpoch } from "../storage/promisedEpoch.ts";
import type { Clock } from "./clock.ts";
import type { ListenAddress } from "./config.ts";
import { diskFailure, type FatalError } from "./exit.ts";
import { type Log, messageOf } from "./log.ts";
import type { Timers } from "./timers.ts";

/** What a replica needs of the world. */
export interface World {
  readonly disk: Disk;
  readonly network: Network;
  readonly clock: Clock;
  /** Counts the time in which the machine was suspended too; without one, nothing is ever suspended. */
  readonly bootClock?: Clock;
  readonly timers: Timers;
}

export interface ReplicaCoreOptions extends World {
  readonly config: ReplicaConfig & {
    readonly dataDir: string;
    readonly replicationAddress: ListenAddress;
    readonly build: string;
  };
  readonly log: Log;
  /** See the journal's options. */
  readonly segmentBytes?: number;
  readonly beforeApply?: CommitQueueOptions["beforeApply"];
  readonly onApplied: CommitQueueOptions["onApplied"];
  readonly onSynced: (milliseconds: number) => void;
  /** Something that status shows has changed. */
  readonly onChange: () => void;
  /** The process must end. */
  readonly onFailure: (error: FatalError) => void;
}

/** Reading the journal: where that began, and when. */
export interface Replay {
  readonly fromSeq: number;
  readonly since: number;
}

/** A replica that has read its journal. */
export interface RunningReplica {
  readonly journal: Journal;
  readonly replica: Replica;
  readonly snapshots: ReplicaSnapshots;
}

/**
 * Everything of an engine process on which its promises rest, and nothing that talks to people or programs: the data
 * directory, the journal, the replica and its replication. The engine and every test of many replicas build it here.
 */
export class ReplicaCore {
  readonly exchange = new Exchange();
  readonly queue: CommitQueue;
  readonly #options: ReplicaCoreOptions;
  #promised: PromisedEpoch | null = null;
  #lastApply: LastApply | null = null;
  #running: RunningReplica | null = null;
  #replication: ReplicationServer | null = null;
  #replay: Replay | null = null;

  constructor(options: ReplicaCoreOptions) {
    const { timers, clock, beforeApply, onApplied } = options;
    const onFailure = (error: FatalError): void => void this.#applyFailed(error);
    const clockSeconds = (): number => clock() / 1000;
    this.#options = options;
    this.queue = new CommitQueue({
      exchange: this.exchange,
      timers,
      clockSeconds,
      ...(beforeApply === undefined ? {} : { beforeApply }),
      onApplied,
      onFailure,
    });
  }

  /** The epoch below which this replica refuses everything; 0 until {@link claim} has resolved. */
  get promised(): number {
    return this.#promised?.value ?? 0;
  }

  /** The record that ended this replica and build before; null for none. */
  get applyFault(): ApplyFault | null {
    return this.#lastApply?.fault ?? null;
  }

  /** The journal that is being read; null before and after. */
  get replay(): Replay | null {
    return this.#running === null ? this.#replay : null;
  }

  /** Null until {@link recover} has resolved. */
  get running(): RunningReplica | null {
    return this.#running;
  }

  /** Makes the data directory this replica's, or checks that it is. Throws a FatalError. */
  async claim(): Promise<void> {
    const { disk, config } = this.#options;
    await claimDataDirectory(disk, config.dataDir, config);
    this.#promised = await PromisedEpoch.load(disk, config.dataDir);
    this.#lastApply = await LastApply.load(disk, config.dataDir, config.build);
  }

  /** Reads the journal. Throws a FatalError. */
  async recover(): Promise<RunningReplica> {
    const promised = this.#promised;
    if (promised === null) throw new Error("the data directory is claimed before its journal is read");
    const { config, network, clock, timers, log, onSynced, onChange, onFailure } = this.#options;
    const { queue, exchange } = this;
    const snapshots = await this.#openSnapshots();
    const halting = this.#lastApply?.halting ?? null;
    if (halting !== null) queue.haltBefore(halting.seq);
    const base = await snapshots.load();
    this.#replay = { fromSeq: base.position.seq, since: clock() };
    const journal = await openJournal({
      base,
      disk: this.#options.disk,
      ...(this.#options.segmentBytes === undefined ? {} : { segmentBytes: this.#options.segmentBytes }),
      dataDir: config.dataDir,
      clock,
      onRecovered: (record) => this.#recovered(record),
      onDurable: (_, milliseconds) => {
        onSynced(milliseconds);
        this.#running?.replica.noticeDurable();
      },
      onFailure,
    });
    const parts = { journal, queue, exchange, snapshots, promised, halting };
    const { bootClock = clock } = this.#options;
    const replica = new Replica({ config, ...parts, network, clock, bootClock, timers, log, onChange, onFailure });
    snapshots.attach(journal);
    this.#running = { journal, replica, snapshots };
    return this.#running;
  }

  /** Opens the replication port and answers its address. */
  listen({ replica }: RunningReplica): Promise<ListenAddress> {
    const { config, network, log } = this.#options;
    const { token, clusterUid } = config;
    const accept = replica.acceptFollower.bind(replica);
    this.#replication = new ReplicationServer({ network, token, clusterUid, log, accept });
    return this.#replication.listen(config.replicationAddress);
  }

  /** To be called at every heartbeat. */
  tick(): void {
    this.#running?.replica.tick();
    this.#lastApply?.noticeApplied(this.exchange.appliedSeq).catch((error: unknown) => {
      this.#options.onFailure(diskFailure("forget an apply fault that was overcome", error));
    });
  }

  async stop(): Promise<void> {
    await this.#running?.replica.stop();
    await this.#running?.snapshots.taker.abandon();
    await this.#replication?.close();
    await this.#running?.journal.close();
  }

  /** The next process must know what ended this one; it goes even when that cannot be written down. */
  async #applyFailed(error: FatalError): Promise<void> {
    const { log, onFailure } = this.#options;
    try {
      await this.#lastApply?.remember(error.seq ?? 0, error.message);
    } catch (cause) {
      log.error("the apply fault could not be written down", { error: messageOf(cause) });
    }
    onFailure(error);
  }

  #openSnapshots(): Promise<ReplicaSnapshots> {
    const { disk, config, timers, log, onChange, onFailure } = this.#options;
    return ReplicaSnapshots.open({
      disk,
      dataDir: config.dataDir,
      state: snapshotStateOf(this.exchange),
      queue: this.queue,
      build: config.build,
      everyRecords: config.limits.snapshotEveryRecords,
      timers,
      log,
      onTaken: (manifest) => this.#running?.replica.noticeSnapshot(manifest),
      onChange,
      onFailure,
    });
  }

  #recovered(record: JournalRecord): void {
    this.queue.add(record, null);
    this.queue.advance(record.committed);
  }
}
