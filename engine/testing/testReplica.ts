import type { TestContext } from "node:test";

import type { Applied, Exchange } from "../exchange/exchange.ts";
import { tradingRules } from "../exchange/tradingRules.ts";
import type { Journal } from "../journal/journal.ts";
import type { JournalRecord } from "../journal/record.ts";
import type { Clock } from "../process/clock.ts";
import type { EngineLimits, ListenAddress } from "../process/config.ts";
import type { FatalError } from "../process/exit.ts";
import { createLog } from "../process/log.ts";
import { machine } from "../process/machine.ts";
import { ReplicaCore, type RunningReplica, type World } from "../process/replicaCore.ts";
import type { CancelTimer } from "../process/timers.ts";
import type { DemoteAnswer, FenceAnswer, GrantAnswer, PlacedAnswer, PromoteCall } from "../replica/calls.ts";
import type { CommitQueue } from "../replica/commitQueue.ts";
import { ask, type OrderOutcome } from "../replica/orderDesk.ts";
import type { Replica } from "../replica/replica.ts";
import type { ReplicaSnapshots } from "../snapshots/replicaSnapshots.ts";
import { testCluster, testToken } from "./engineClient.ts";
import { limitOrder } from "./records.ts";

export const testLimits: EngineLimits = {
  detectionMs: 400,
  heartbeatMs: 20,
  writeStallMs: 3_000,
  commitTimeoutMs: 600,
  drainDeadlineMs: 2_000,
  maxLagRecords: 10_000,
  maxInFlight: 5_000,
  snapshotEveryRecords: 1_000_000,
};

export const testRules = tradingRules("BTC/USDT", "0.01", "0.00001");

export interface TestReplicaOptions {
  readonly instance: string;
  readonly dataDir: string;
  readonly limits?: Partial<EngineLimits>;
  /** The machine's own when absent. */
  readonly bootClock?: Clock;
  /** This machine and its loopback, unless the test has a world of its own. */
  readonly world?: World;
  readonly replicationAddress?: ListenAddress;
  readonly clusterUid?: string;
  readonly segmentBytes?: number;
  /** `exchange` has just applied the record. */
  readonly onApplied?: (record: JournalRecord, effect: Applied, exchange: Exchange) => void;
  /** Called besides being kept in {@link TestReplica.failures}. */
  readonly onFailure?: (error: FatalError) => void;
}

/** A replica without the ports of its process, on real disks and connections unless it is given others. */
export class TestReplica {
  readonly instance: string;
  readonly replica: Replica;
  readonly journal: Journal;
  readonly queue: CommitQueue;
  readonly exchange: Exchange;
  readonly snapshots: ReplicaSnapshots;
  readonly failures: FatalError[];
  readonly address: ListenAddress;
  readonly core: ReplicaCore;
  readonly #cancelTicks: CancelTimer;
  #operations = 0;
  #stopped = false;

  private constructor(parts: Parts) {
    this.instance = parts.instance;
    this.replica = parts.running.replica;
    this.journal = parts.running.journal;
    this.queue = parts.core.queue;
    this.exchange = parts.core.exchange;
    this.snapshots = parts.running.snapshots;
    this.failures = parts.failures;
    this.address = parts.address;
    this.core = parts.core;
    this.#cancelTicks = parts.cancelTicks;
  }

  static async start(test: Pick<TestContext, "after">, options: TestReplicaOptions): Promise<TestReplica> {
    const started = await TestReplica.run(options);
    test.after(() => started.stop());
    return started;
  }

  /** For a world in which nothing has to be stopped. Throws the FatalError that keeps it from starting. */
  static async run(options: TestReplicaOptions): Promise<TestReplica> {
    return new TestReplica(await assemble(options));
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#cancelTicks();
    await this.core.stop();
  }

  fence(epoch: number): Promise<FenceAnswer> {
    return this.replica.fence(this.#identity(epoch));
  }

  promote(epoch: number, members: readonly string[], more: Partial<PromoteCall> = {}): Promise<PlacedAnswer> {
    const minPosition = { epoch: 0, seq: 0 };
    return this.replica.promote({ ...this.#identity(epoch), members, k: 1, minPosition, resume: "open", ...more });
  }

  follow(epoch: number, primary: TestReplica): Promise<PlacedAnswer> {
    const { instance, address: replication } = primary;
    return this.replica.follow({
      ...this.#identity(epoch),
      upstream: { instance, replication, orders: "orders:7000" },
    });
  }

  demote(epoch: number, deadlineMs = 2_000): Promise<DemoteAnswer> {
    return this.replica.demote({ ...this.#identity(epoch), deadlineMs });
  }

  grant(epoch: number, ttlMs: number): GrantAnswer {
    return this.replica.grant({ ...this.#identity(epoch), ttlMs });
  }

  identity(epoch: number): { clusterUid: string; epoch: number; opId: string } {
    return this.#identity(epoch);
  }

  /** Places a small order; a replica that does not lead answers like one that cannot commit. */
  place(clientId: string): Promise<OrderOutcome> {
    const { standing } = this.replica;
    if (!("desk" in standing)) return Promise.resolve({ kind: "cannotCommit", why: standing.role });
    const { desk } = standing;
    return ask(machine.clock(), (question) => desk.place(limitOrder(clientId), testRules, question));
  }

  #identity(epoch: number): { clusterUid: string; epoch: number; opId: string } {
    this.#operations += 1;
    return { clusterUid: testCluster, epoch, opId: `${this.instance}-${this.#operations}` };
  }
}

interface Parts {
  readonly instance: string;
  readonly core: ReplicaCore;
  readonly running: RunningReplica;
  readonly failures: FatalError[];
  readonly address: ListenAddress;
  readonly cancelTicks: CancelTimer;
}

const assemble = async (options: TestReplicaOptions): Promise<Parts> => {
  const { instance, dataDir, world = machine, segmentBytes, bootClock } = options;
  const limits = { ...testLimits, ...options.limits };
  const failures: FatalError[] = [];
  const core = new ReplicaCore({
    ...world,
    ...(bootClock === undefined ? {} : { bootClock }),
    config: {
      clusterUid: options.clusterUid ?? testCluster,
      instance,
      dataDir,
      token: testToken,
      rules: testRules,
      clientIdWindow: 1_000_000,
      build: "test",
      limits,
      replicationAddress: options.replicationAddress ?? { host: "127.0.0.1", port: 0 },
    },
    log: createLog({ instance }, () => undefined),
    onApplied: (record, effect) => options.onApplied?.(record, effect, core.exchange),
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
    onSynced: () => undefined,
    onChange: () => undefined,
    onFailure: (error) => {
      failures.push(error);
      options.onFailure?.(error);
    },
  });
  await core.claim();
  const running = await core.recover();
  const address = await core.listen(running);
  const cancelTicks = world.timers.every(limits.heartbeatMs, () => core.tick());
  return { instance, core, running, failures, address, cancelTicks };
};
