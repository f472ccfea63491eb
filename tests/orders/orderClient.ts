import { type Ack, AckLog } from "./ackLog.ts";
import { type Clock, systemClock } from "./clock.ts";
import { HttpConnection, type OrderConnection } from "./connection.ts";
import { LeaderSearch } from "./leaderSearch.ts";
import { Pacer } from "./pacer.ts";
import { defaultMix, type Order, type OrderMix, randomOrder } from "./randomOrders.ts";
import { rememberingLookup } from "./rememberingLookup.ts";
import { type Destination, ReplicaRoute } from "./replicaRoute.ts";
import { type Random, seededRandom } from "./seededRandom.ts";
import { submit } from "./submit.ts";
import { Tally, type TallyReport } from "./tally.ts";

export interface OrderClientOptions {
  readonly destination: Destination;
  /** Starts every client id of this run; no two runs against one engine may share it. */
  readonly run: string;
  readonly seed: number;
  /** Orders under way at the same time, each on a connection of its own. */
  readonly workers: number;
  /** Orders a second over all workers; 0 = as fast as the answers come. */
  readonly ratePerSecond: number;
  readonly mix: OrderMix;
  /** Share of orders sent once more after they were acknowledged, 0 to 1: the answer must stay the same, across failovers too. */
  readonly repeatShare: number;
  readonly connectTimeoutMs: number;
  readonly attemptTimeoutMs: number;
  /** Sending stops when this many acknowledgements are kept. */
  readonly maxAcks: number;
}

export const defaultOptions: Omit<OrderClientOptions, "destination" | "run"> = {
  seed: 1,
  workers: 16,
  ratePerSecond: 300,
  mix: defaultMix,
  repeatShare: 0.02,
  connectTimeoutMs: 250,
  attemptTimeoutMs: 1000,
  maxAcks: 2_000_000,
};

export interface OrderClientSummary extends TallyReport {
  readonly run: string;
  readonly state: "sending" | "stopping" | "stopped";
  /** Orders begun. */
  readonly sent: number;
  /** True when sending stopped because {@link OrderClientOptions.maxAcks} was reached. */
  readonly full: boolean;
  /** Wall clock, milliseconds, of zero on the monotonic clock. */
  readonly clockOriginMs: number;
}

export interface OrderClient {
  summary(): OrderClientSummary;
  /** Every acknowledgement so far, in the order of arrival. */
  acks(): Iterable<Ack>;
  /** Sends nothing new, resolves what is under way for `deadlineMs` at most, then closes. May be called again. */
  stop(deadlineMs: number): Promise<OrderClientSummary>;
}

/** What a test replaces. */
export interface OrderClientSeams {
  readonly clock: Clock;
  connect(): OrderConnection;
}

/** Starts sending at once. */
export function startOrderClient(
  options: OrderClientOptions,
  seams: OrderClientSeams = systemSeams(options),
): OrderClient {
  const { clock } = seams;
  const random = seededRandom(options.seed);
  const clientId = (clientNumber: number) => `${options.run}-${clientNumber}`;
  const acks = new AckLog(clientId, options.maxAcks);
  const tally = new Tally();
  const route = new ReplicaRoute(options.destination);
  const search = new LeaderSearch(clock, random);
  const pacer = new Pacer(options.ratePerSecond, clock);
  const intake = new AbortController();
  const giveUp = new AbortController();
  let sent = 0;

  async function place(
    clientNumber: number,
    order: Order,
    connection: OrderConnection,
    repeat: boolean,
  ): Promise<boolean> {
    const settled = await submit(order, {
      connection,
      route,
      search,
      clock,
      giveUp: giveUp.signal,
      onRetry: (reason) => tally.retried(reason),
    });
    switch (settled.kind) {
      case "acked":
        acks.add(clientNumber, settled.ack, settled.sentMs, settled.ackedMs);
        tally.acked(settled, repeat);
        return true;
      case "refused":
        tally.refused(settled.reason);
        return false;
      case "unresolved":
        tally.unresolved();
        return false;
    }
  }

  async function work(connection: OrderConnection, draw: Random): Promise<void> {
    let keepsake: { clientNumber: number; order: Order } | null = null;
    for (;;) {
      await pacer.turn(intake.signal);
      if (intake.signal.aborted || acks.isFull) break;
      if (keepsake !== null && draw() < options.repeatShare) {
        await place(keepsake.clientNumber, keepsake.order, connection, true);
        continue;
      }
      const clientNumber = sent++;
      const order = randomOrder(clientId(clientNumber), options.mix, draw);
      const acked = await place(clientNumber, order, connection, false);
      // Kept for a while, so that repeats reach back over a failover.
      if (acked && (keepsake === null || draw() < options.repeatShare)) keepsake = { clientNumber, order };
    }
    connection.close();
  }

  const connections = Array.from({ length: options.workers }, () => seams.connect());
  const finished = Promise.all(
    connections.map((connection, worker) => work(connection, seededRandom(options.seed * 1000 + worker))),
  );
  let state: OrderClientSummary["state"] = "sending";

  const summary = (): OrderClientSummary => ({
    run: options.run,
    state,
    sent,
    full: acks.isFull,
    clockOriginMs: performance.timeOrigin,
    ...tally.report(clock.now()),
  });

  async function stop(deadlineMs: number): Promise<OrderClientSummary> {
    if (state === "sending") state = "stopping";
    intake.abort();
    const resolved = new AbortController();
    void finished.then(() => resolved.abort());
    await clock.sleep(deadlineMs, resolved.signal);
    giveUp.abort();
    for (const connection of connections) connection.close();
    await finished;
    state = "stopped";
    return summary();
  }

  return { summary, acks: () => acks.all(), stop };
}

function systemSeams(options: OrderClientOptions): OrderClientSeams {
  const { connectTimeoutMs, attemptTimeoutMs } = options;
  const lookup = rememberingLookup();
  return {
    clock: systemClock,
    connect: () => new HttpConnection({ connectTimeoutMs, attemptTimeoutMs, lookup }),
  };
}
