import { randomUUID } from "node:crypto";
import { mkdir, statfs } from "node:fs/promises";

import { ControlThread } from "../control/controlThread.ts";
import type { Query } from "../control/messages.ts";
import {
  type ProcessFacts,
  recoveringSnapshot,
  runningSnapshot,
  type StatusSnapshot,
  statusAsOf,
} from "../control/status.ts";
import { Exchange } from "../exchange/exchange.ts";
import { type Journal, openJournal } from "../journal/journal.ts";
import { EngineMetrics } from "../metrics/engineMetrics.ts";
import { OrderServer } from "../orders/orderServer.ts";
import type { ReplicaCall } from "../replica/calls.ts";
import { CommitQueue } from "../replica/commitQueue.ts";
import { Refusal } from "../replica/refusal.ts";
import { Replica } from "../replica/replica.ts";
import { ReplicationServer } from "../replication/replicationServer.ts";
import { type DataLock, lockDataDirectory } from "../storage/dataLock.ts";
import { claimDataDirectory } from "../storage/identity.ts";
import { PromisedEpoch } from "../storage/promisedEpoch.ts";
import type { Clock } from "./clock.ts";
import type { EngineConfig, ListenAddress } from "./config.ts";
import { diskFailure, FatalError } from "./exit.ts";
import type { Log } from "./log.ts";

export interface EngineOptions {
  readonly config: EngineConfig;
  readonly clock: Clock;
  readonly log: Log;
  /** The process must end; called at most once. */
  readonly onFailure: (error: FatalError) => void;
}

const diskCheckMs = 5_000;

/** One engine process without its signals: the parts, and what connects them. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #processId = randomUUID();
  readonly #metrics = new EngineMetrics();
  readonly #exchange = new Exchange();
  readonly #queue: CommitQueue;
  readonly #timers: NodeJS.Timeout[] = [];
  #failure: FatalError | null = null;
  #diskFreeBytes = 0;
  #lock: DataLock | null = null;
  #promised: PromisedEpoch | null = null;
  #running: { readonly journal: Journal; readonly replica: Replica } | null = null;
  #control: ControlThread | null = null;
  #orders: OrderServer | null = null;
  #replication: ReplicationServer | null = null;
  #addresses: EngineAddresses | null = null;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#queue = new CommitQueue({
      exchange: this.#exchange,
      clockSeconds: () => options.clock() / 1000,
      onApplied: (record, effect, seconds) => this.#metrics.applied(record, effect, seconds),
      onFailure: (error) => this.#fail(error),
    });
  }

  /** The ports in use; null until {@link start} has resolved. */
  get addresses(): EngineAddresses | null {
    return this.#addresses;
  }

  /** Claims the data directory, opens the ports and reads the journal. Throws a FatalError. */
  async start(): Promise<void> {
    const { config } = this.#options;
    try {
      await mkdir(config.dataDir, { recursive: true });
    } catch (error) {
      throw diskFailure(`create ${config.dataDir}`, error);
    }
    this.#lock = await lockDataDirectory(config.dataDir);
    await claimDataDirectory(config.dataDir, config);
    this.#promised = await PromisedEpoch.load(config.dataDir);
    await this.#measureDisk();
    const control = await this.#startControl();
    this.#every(config.limits.heartbeatMs, () => this.#heartbeat());
    this.#every(diskCheckMs, () => void this.#measureDisk());
    const { replica } = await this.#recover(this.#promised);
    const replication = await this.#startReplication(replica);
    const orders = await this.#startOrders(replica);
    this.#addresses = { control, orders, replication };
    const { durable } = replica;
    this.#options.log.info("started", { ...this.#addresses, durable, applied: this.#exchange.appliedSeq });
    this.#control?.publish();
  }

  /** Answers what is under way, as far as that is possible within `deadlineMs`, and closes everything. */
  async stop(deadlineMs: number): Promise<void> {
    const deadline = this.#options.clock() + deadlineMs;
    this.#orders?.windDown();
    await this.#running?.replica.windDown(deadline);
    const answersSent = this.#orders?.close();
    await this.#running?.replica.stop();
    await answersSent;
    await this.#replication?.close();
    for (const timer of this.#timers) clearInterval(timer);
    await this.#control?.stop();
    await this.#running?.journal.close();
    await this.#lock?.release();
  }

  async #startControl(): Promise<ListenAddress> {
    const { config } = this.#options;
    const { thread, address } = await ControlThread.start({
      data: {
        address: config.controlAddress,
        token: config.token,
        clusterUid: config.clusterUid,
        dataDir: config.dataDir,
        limits: config.limits,
      },
      snapshot: () => this.#snapshot(),
      call: (call) => this.#carryOut(call),
      query: (query) => this.#query(query),
      onFailure: (error) => this.#fail(error),
    });
    this.#control = thread;
    return address;
  }

  async #recover(promised: PromisedEpoch): Promise<{ journal: Journal; replica: Replica }> {
    const { config, clock, log } = this.#options;
    const queue = this.#queue;
    const journal = await openJournal({
      dataDir: config.dataDir,
      clock,
      onRecovered: (record) => {
        queue.add(record, null);
        queue.advance(record.committed);
      },
      onDurable: (_, milliseconds) => {
        this.#metrics.synced(milliseconds / 1000);
        this.#running?.replica.noticeDurable();
      },
      onFailure: (error) => this.#fail(error),
    });
    const replica = new Replica({
      config,
      journal,
      queue,
      exchange: this.#exchange,
      promised,
      clock,
      log,
      onChange: () => this.#control?.publish(),
      onFailure: (error) => this.#fail(error),
    });
    this.#running = { journal, replica };
    return this.#running;
  }

  #startReplication(replica: Replica): Promise<ListenAddress> {
    const { config, log } = this.#options;
    const { token, clusterUid } = config;
    const accept = replica.acceptFollower.bind(replica);
    this.#replication = new ReplicationServer({ token, clusterUid, log, accept });
    return this.#replication.listen(config.replicationAddress);
  }

  #startOrders(replica: Replica): Promise<ListenAddress> {
    const { config, clock, log } = this.#options;
    const { rules } = config;
    this.#orders = new OrderServer({ replica, exchange: this.#exchange, rules, metrics: this.#metrics, clock, log });
    return this.#orders.listen(config.orderAddress);
  }

  #heartbeat(): void {
    this.#running?.replica.tick();
    this.#control?.publishNow();
  }

  async #carryOut(call: ReplicaCall): Promise<unknown> {
    try {
      return await this.#dispatch(call);
    } catch (error) {
      // A promise that could not be written down must not be followed by anything.
      if (error instanceof FatalError) this.#fail(error);
      throw error;
    }
  }

  #dispatch(call: ReplicaCall): Promise<unknown> {
    const { replica } = this.#running ?? {};
    if (replica === undefined) throw new Refusal("RECOVERING", "the journal is still being read; try again");
    switch (call.name) {
      case "fence":
        return replica.fence(call.args);
      case "promote":
        return replica.promote(call.args);
      case "follow":
        return replica.follow(call.args);
      case "demote":
        return replica.demote(call.args);
      case "members":
        return replica.setMembers(call.args);
      case "drain":
        return replica.drain(call.args);
      case "undrain":
        return replica.undrain(call.args);
    }
  }

  #query(query: Query): unknown {
    switch (query.name) {
      case "metrics":
        return this.#metrics.render(this.#status(), this.#exchange);
      case "journalEnd":
        return this.#journalEnd();
      case "hash":
        return this.#hash(query.seq);
    }
  }

  /** A primary shows what is committed; a standby shows all that it holds, since only its primary knows better. */
  #journalEnd(): number {
    if (this.#running === null) throw new Refusal("RECOVERING", "the journal is still being read; try again");
    const { replica, journal } = this.#running;
    return "term" in replica.standing ? Math.min(this.#queue.committed, journal.durable.seq) : journal.durable.seq;
  }

  #hash(seq: number): unknown {
    const hash = this.#exchange.hashAt(seq);
    if (hash !== null) return { kind: "hash", hash };
    return { kind: this.#exchange.appliedSeq < seq ? "pending" : "gone" };
  }

  #status() {
    return statusAsOf(this.#snapshot(), this.#options.clock(), this.#options.config.limits);
  }

  #snapshot(): StatusSnapshot {
    const facts: ProcessFacts = {
      config: this.#options.config,
      processId: this.#processId,
      diskFreeBytes: this.#diskFreeBytes,
      lastError: this.#failure?.message ?? null,
    };
    const now = this.#options.clock();
    if (this.#running === null) return recoveringSnapshot(facts, this.#queue.received, now);
    const promised = this.#promised?.value ?? 0;
    return runningSnapshot(facts, { ...this.#running, queue: this.#queue, exchange: this.#exchange, promised }, now);
  }

  async #measureDisk(): Promise<void> {
    try {
      const { bavail, bsize } = await statfs(this.#options.config.dataDir);
      this.#diskFreeBytes = bavail * bsize;
    } catch (error) {
      this.#fail(diskFailure("measure the free space", error));
    }
  }

  #every(milliseconds: number, step: () => void): void {
    this.#timers.push(setInterval(step, milliseconds));
  }

  #fail(error: FatalError): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.#control?.publishNow();
    this.#options.onFailure(error);
  }
}

export interface EngineAddresses {
  readonly control: ListenAddress;
  readonly orders: ListenAddress;
  readonly replication: ListenAddress;
}
