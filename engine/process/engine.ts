import { randomUUID } from "node:crypto";

import { ControlThread } from "../control/controlThread.ts";
import type { Query } from "../control/messages.ts";
import {
  type ProcessFacts,
  recoveringSnapshot,
  runningSnapshot,
  type StatusSnapshot,
  statusAsOf,
} from "../control/status.ts";
import type { Applied } from "../exchange/exchange.ts";
import { bookSnapshot } from "../feed/bookSnapshot.ts";
import { FeedThread } from "../feed/feedThread.ts";
import { marketEventOf } from "../feed/marketEventOf.ts";
import type { JournalRecord } from "../journal/record.ts";
import { EngineMetrics } from "../metrics/engineMetrics.ts";
import { OrderServer } from "../orders/orderServer.ts";
import type { ReplicaCall } from "../replica/calls.ts";
import { Refusal } from "../replica/refusal.ts";
import type { Replica } from "../replica/replica.ts";
import { type DataLock, lockDataDirectory } from "../storage/dataLock.ts";
import type { EngineConfig, ListenAddress } from "./config.ts";
import { diskFailure, FatalError } from "./exit.ts";
import type { Log } from "./log.ts";
import { ReplicaCore, type ReplicaCoreOptions, type World } from "./replicaCore.ts";
import type { CancelTimer } from "./timers.ts";

export interface EngineOptions extends World, Pick<ReplicaCoreOptions, "beforeApply"> {
  readonly config: EngineConfig;
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
  readonly #core: ReplicaCore;
  readonly #timers: CancelTimer[] = [];
  #failure: FatalError | null = null;
  #diskFreeBytes = 0;
  #lock: DataLock | null = null;
  #control: ControlThread | null = null;
  #orders: OrderServer | null = null;
  #feed: FeedThread | null = null;
  #addresses: EngineAddresses | null = null;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#core = new ReplicaCore({
      ...options,
      onApplied: (record, applied, seconds) => {
        this.#metrics.applied(applied, this.#core.exchange, seconds);
        this.#tellFeed(record, applied);
      },
      onSynced: (milliseconds) => this.#metrics.synced(milliseconds / 1000),
      onChange: () => {
        this.#control?.publish();
        this.#orders?.noticeStanding();
      },
      onFailure: (error) => this.#fail(error),
    });
  }

  /** The ports in use; null until {@link start} has resolved. */
  get addresses(): EngineAddresses | null {
    return this.#addresses;
  }

  /** Claims the data directory, opens the ports and reads the journal. Throws a FatalError. */
  async start(): Promise<void> {
    const { config, disk } = this.#options;
    try {
      await disk.makeDirectory(config.dataDir);
    } catch (error) {
      throw diskFailure(`create ${config.dataDir}`, error);
    }
    this.#lock = await lockDataDirectory(config.dataDir);
    await this.#core.claim();
    await this.#measureDisk();
    const control = await this.#startControl();
    this.#every(config.limits.heartbeatMs, () => this.#heartbeat());
    this.#every(diskCheckMs, () => void this.#measureDisk());
    const feedStarting = this.#startFeed();
    // Its failure is noticed where it is waited for.
    feedStarting.catch(() => undefined);
    const running = await this.#core.recover();
    const replication = await this.#core.listen(running);
    const orders = await this.#startOrders(running.replica);
    const feed = await feedStarting;
    const { appliedSeq, rules } = this.#core.exchange;
    this.#feed?.restart(appliedSeq, rules, "the feed begins");
    this.#addresses = { control, orders, replication, feed };
    const { durable } = running.replica;
    this.#options.log.info("started", { ...this.#addresses, durable, applied: this.#core.exchange.appliedSeq });
    this.#control?.publish();
  }

  /** Answers what is under way, as far as that is possible within `deadlineMs`, and closes everything. */
  async stop(deadlineMs: number): Promise<void> {
    const deadline = this.#options.clock() + deadlineMs;
    this.#orders?.windDown();
    await this.#core.running?.replica.windDown(deadline);
    const answersSent = this.#orders?.close();
    await this.#core.stop();
    await answersSent;
    for (const cancel of this.#timers) cancel();
    await this.#feed?.stop();
    await this.#control?.stop();
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

  #startOrders(replica: Replica): Promise<ListenAddress> {
    const { config, clock, log } = this.#options;
    const { instance, rules } = config;
    const parts = { replica, exchange: this.#core.exchange, metrics: this.#metrics };
    this.#orders = new OrderServer({ ...parts, instance, rules, clock, log });
    return this.#orders.listen(config.orderAddress);
  }

  async #startFeed(): Promise<ListenAddress> {
    const { config, timers, log } = this.#options;
    const { exchange } = this.#core;
    const book = () => bookSnapshot(exchange);
    const { thread, address } = await FeedThread.start({ address: config.feedAddress, timers, log, book });
    this.#feed = thread;
    return address;
  }

  #tellFeed(record: JournalRecord, { effect }: Applied): void {
    if (this.#feed === null || !this.#feed.isListening) return;
    const { book, rules } = this.#core.exchange;
    this.#feed.applied(record.seq, marketEventOf(record, effect, book), rules);
  }

  #heartbeat(): void {
    this.#core.tick();
    this.#orders?.tick();
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
    const { replica } = this.#core.running ?? {};
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
      case "grant":
        return Promise.resolve(replica.grant(call.args));
      case "drain":
        return replica.drain(call.args);
      case "undrain":
        return replica.undrain(call.args);
      case "snapshot":
        return replica.takeSnapshot();
    }
  }

  #query(query: Query): unknown {
    switch (query.name) {
      case "metrics":
        return this.#metrics.render(this.#status(), this.#core.exchange);
      case "journalEnd":
        return this.#journalEnd();
      case "hash":
        return this.#hash(query.seq);
    }
  }

  /** A primary shows what is committed; a standby shows all that it holds, since only its primary knows better. */
  #journalEnd(): number {
    const { running, queue } = this.#core;
    if (running === null) throw new Refusal("RECOVERING", "the journal is still being read; try again");
    const { replica, journal } = running;
    return "term" in replica.standing ? Math.min(queue.committed, journal.durable.seq) : journal.durable.seq;
  }

  #hash(seq: number): unknown {
    const { exchange } = this.#core;
    const hash = exchange.hashAt(seq);
    if (hash !== null) return { kind: "hash", hash };
    return { kind: exchange.appliedSeq < seq ? "pending" : "gone" };
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
      applyFault: this.#core.applyFault,
    };
    const now = this.#options.clock();
    const { running, queue, exchange, promised } = this.#core;
    if (running === null) return recoveringSnapshot(facts, queue.received, this.#core.replay, now);
    return runningSnapshot(facts, { ...running, queue, exchange, promised }, now);
  }

  async #measureDisk(): Promise<void> {
    try {
      this.#diskFreeBytes = await this.#options.disk.freeBytes(this.#options.config.dataDir);
    } catch (error) {
      this.#fail(diskFailure("measure the free space", error));
    }
  }

  #every(milliseconds: number, step: () => void): void {
    this.#timers.push(this.#options.timers.every(milliseconds, step));
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
  readonly feed: ListenAddress;
}
