import type { TestContext } from "node:test";

import { Exchange } from "../exchange/exchange.ts";
import { tradingRules } from "../exchange/tradingRules.ts";
import { type Journal, openJournal } from "../journal/journal.ts";
import { monotonicClock } from "../process/clock.ts";
import type { EngineLimits, ListenAddress } from "../process/config.ts";
import type { FatalError } from "../process/exit.ts";
import { createLog } from "../process/log.ts";
import type { DemoteAnswer, FenceAnswer, PlacedAnswer, PromoteCall } from "../replica/calls.ts";
import { CommitQueue } from "../replica/commitQueue.ts";
import type { OrderOutcome } from "../replica/orderDesk.ts";
import { Replica } from "../replica/replica.ts";
import { ReplicationServer } from "../replication/replicationServer.ts";
import { PromisedEpoch } from "../storage/promisedEpoch.ts";
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
};

export const testRules = tradingRules("BTC/USDT", "0.01", "0.00001");

export interface TestReplicaOptions {
  readonly instance: string;
  readonly dataDir: string;
  readonly limits?: Partial<EngineLimits>;
}

/** A replica with a real journal and real connections, and without the ports of its process. */
export class TestReplica {
  readonly instance: string;
  readonly replica: Replica;
  readonly journal: Journal;
  readonly queue: CommitQueue;
  readonly exchange: Exchange;
  readonly failures: FatalError[];
  readonly address: ListenAddress;
  readonly #server: ReplicationServer;
  readonly #timer: NodeJS.Timeout;
  #operations = 0;
  #stopped = false;

  private constructor(parts: Parts) {
    this.instance = parts.instance;
    this.replica = parts.replica;
    this.journal = parts.journal;
    this.queue = parts.queue;
    this.exchange = parts.exchange;
    this.failures = parts.failures;
    this.address = parts.address;
    this.#server = parts.server;
    this.#timer = parts.timer;
  }

  static async start(test: Pick<TestContext, "after">, options: TestReplicaOptions): Promise<TestReplica> {
    const started = new TestReplica(await assemble(options));
    test.after(() => started.stop());
    return started;
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.replica.stop();
    await this.#server.close();
    await this.journal.close();
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

  identity(epoch: number): { clusterUid: string; epoch: number; opId: string } {
    return this.#identity(epoch);
  }

  /** Places a small order; a replica that does not lead answers like one that cannot commit. */
  place(clientId: string): Promise<OrderOutcome> {
    const { standing } = this.replica;
    if (!("desk" in standing)) return Promise.resolve({ kind: "cannotCommit", why: standing.role });
    return standing.desk.place(limitOrder(clientId), testRules);
  }

  #identity(epoch: number): { clusterUid: string; epoch: number; opId: string } {
    this.#operations += 1;
    return { clusterUid: testCluster, epoch, opId: `${this.instance}-${this.#operations}` };
  }
}

interface Parts {
  readonly instance: string;
  readonly replica: Replica;
  readonly journal: Journal;
  readonly queue: CommitQueue;
  readonly exchange: Exchange;
  readonly failures: FatalError[];
  readonly server: ReplicationServer;
  readonly address: ListenAddress;
  readonly timer: NodeJS.Timeout;
}

const assemble = async ({ instance, dataDir, limits: changed }: TestReplicaOptions): Promise<Parts> => {
  const limits = { ...testLimits, ...changed };
  const failures: FatalError[] = [];
  const onFailure = (error: FatalError): unknown => failures.push(error);
  const log = createLog({ instance }, () => undefined);
  const exchange = new Exchange();
  const queue = new CommitQueue({ exchange, clockSeconds: () => 0, onApplied: () => undefined, onFailure });
  const wired: { replica?: Replica } = {};
  const journal = await openJournal({
    dataDir,
    clock: monotonicClock,
    onRecovered: (record) => {
      queue.add(record, null);
      queue.advance(record.committed);
    },
    onDurable: () => wired.replica?.noticeDurable(),
    onFailure,
  });
  const replica = new Replica({
    config: { clusterUid: testCluster, instance, token: testToken, rules: testRules, limits },
    journal,
    queue,
    exchange,
    promised: await PromisedEpoch.load(dataDir),
    clock: monotonicClock,
    log,
    onChange: () => undefined,
    onFailure,
  });
  wired.replica = replica;
  const accept = replica.acceptFollower.bind(replica);
  const server = new ReplicationServer({ token: testToken, clusterUid: testCluster, log, accept });
  const address = await server.listen({ host: "127.0.0.1", port: 0 });
  const timer = setInterval(() => replica.tick(), limits.heartbeatMs);
  return { instance, replica, journal, queue, exchange, failures, server, address, timer };
};
