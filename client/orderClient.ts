import type { Answer } from "../engine/orders/stream/frameReader.ts";
import type { ProblemFrame, Welcome } from "../engine/orders/stream/protocol.ts";
import { type Pause, PauseWatch } from "./pauseWatch.ts";
import { PrimaryLink } from "./primaryLink.ts";
import { encodeRequest, type OrderId, type OrderRequest, PendingRequest, type ReplaceRequest } from "./requests.ts";
import { cancelledResult, type OrderResult, placedResult, type Sizes, sizesOf } from "./results.ts";
import type { StreamConnection } from "./streamConnection.ts";

export interface OrderClientOptions {
  /** Order entries of the replicas, as host:port. A replica that is not named is found by the others' hints. */
  readonly replicas: readonly string[];
  /** A request that is not resolved by then ends as it stands. Each call may have its own. Default: 10 s. */
  readonly deadlineMs?: number;
  /** Requests that may wait at a time; more are refused. Default: 10,000. */
  readonly maxWaiting?: number;
  /** How often a replica is asked whether it leads now, while none is known to. Default: 25 ms. */
  readonly probeMs?: number;
  readonly connectTimeoutMs?: number;
  /** A primary that was silent for this long is taken for gone; it speaks every 250 ms. Default: 1 s. */
  readonly silenceMs?: number;
  /** Requests waited for this long and none was acknowledged: a pause. Default: 250 ms. */
  readonly pauseMs?: number;
  readonly onPause?: (pause: Pause) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly clock?: () => number;
  readonly random?: () => number;
}

export interface ClientStatistics {
  /** Order entry of the primary; null while none is known. */
  readonly primary: string | null;
  readonly epoch: number;
  readonly waiting: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly unresolved: number;
  /** Times that a request was sent once more. */
  readonly resent: number;
  /** Streams opened. */
  readonly streams: number;
  readonly pauses: { readonly count: number; readonly longestMs: number; readonly totalMs: number };
}

const tickMs = 5;
/** How long to wait before the engine is asked for something again that it cannot do now. */
const retryMs = 20;

/**
 * Places orders with an engine of several replicas, of which one leads. Sends what is not known to be done again, under
 * the same client id, over failovers and handovers, until it is resolved or its deadline has passed. One call, one result.
 */
export class OrderClient {
  readonly #options: OrderClientOptions;
  readonly #clock: () => number;
  readonly #link: PrimaryLink;
  readonly #pauses: PauseWatch;
  readonly #waiting = new Map<number, PendingRequest>();
  readonly #ticking: NodeJS.Timeout;
  #sizes: Sizes | null = null;
  #correlation = 0;
  /** Highest record known to be committed. */
  #seen = 0;
  #closing = false;
  #acknowledged = 0;
  #refused = 0;
  #unresolved = 0;
  #resent = 0;
  #streams = 0;

  constructor(options: OrderClientOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#pauses = new PauseWatch(options.pauseMs ?? 250, options.onPause ?? (() => undefined));
    this.#link = new PrimaryLink({
      replicas: options.replicas,
      probeMs: options.probeMs ?? 25,
      connectTimeoutMs: options.connectTimeoutMs ?? 1_000,
      silenceMs: options.silenceMs ?? 1_000,
      clock: this.#clock,
      random: options.random ?? Math.random,
      events: {
        onPrimary: (connection, welcome) => this.#primaryFound(connection, welcome),
        onAnswer: (connection, answer) => this.#answered(connection, answer),
        onLost: (connection) => this.#lost(connection),
      },
    });
    this.#ticking = setInterval(() => this.#tick(), tickMs);
    this.#link.tick();
  }

  /** Places an order. Its client id names it for ever: never use one for two orders. */
  place(order: OrderRequest, deadlineMs?: number): Promise<OrderResult> {
    return this.#ask({ kind: "place", order }, deadlineMs);
  }

  /** Puts an order with a new client id in the place of another. */
  replace(order: ReplaceRequest, deadlineMs?: number): Promise<OrderResult> {
    return this.#ask({ kind: "replace", order }, deadlineMs);
  }

  /** Takes what is open of an order out of the book. */
  cancel(order: OrderId, deadlineMs?: number): Promise<OrderResult> {
    return this.#ask({ kind: "cancel", order }, deadlineMs);
  }

  /** The first answer that an order got, and where it stands now; refused with NOT_FOUND when there is none. */
  find(order: OrderId, deadlineMs?: number): Promise<OrderResult> {
    return this.#ask({ kind: "find", order }, deadlineMs);
  }

  statistics(): ClientStatistics {
    const { count, longestMs, totalMs } = this.#pauses;
    return {
      primary: this.#link.connection?.address ?? null,
      epoch: this.#link.epoch,
      waiting: this.#waiting.size,
      acknowledged: this.#acknowledged,
      refused: this.#refused,
      unresolved: this.#unresolved,
      resent: this.#resent,
      streams: this.#streams,
      pauses: { count, longestMs, totalMs },
    };
  }

  /** Takes no further requests, waits for those under way for `deadlineMs` at most, and closes. */
  async close(deadlineMs = 1_000): Promise<void> {
    this.#closing = true;
    const end = this.#clock() + deadlineMs;
    while (this.#waiting.size > 0 && this.#clock() < end) await new Promise((resolve) => setTimeout(resolve, tickMs));
    for (const request of [...this.#waiting.values()]) this.#giveUp(request, "the client was closed");
    clearInterval(this.#ticking);
    this.#link.close();
  }

  #ask(question: PendingRequest["question"], deadlineMs: number | undefined): Promise<OrderResult> {
    const refused = this.#refusal();
    if (refused !== null) return Promise.resolve(refused);
    const now = this.#clock();
    this.#correlation = (this.#correlation + 1) >>> 0;
    const deadline = now + (deadlineMs ?? this.#options.deadlineMs ?? 10_000);
    return new Promise((resolve) => {
      const request = new PendingRequest(this.#correlation, question, deadline, this.#seen, resolve);
      this.#waiting.set(request.correlation, request);
      this.#pauses.asked(now);
      if (this.#link.connection !== null) this.#send(request, this.#link.connection);
    });
  }

  #refusal(): OrderResult | null {
    if (this.#closing) return { kind: "refused", code: "NOT_SENT", detail: "the client is closed" };
    const most = this.#options.maxWaiting ?? 10_000;
    if (this.#waiting.size < most) return null;
    return { kind: "refused", code: "TOO_MANY", detail: `${most} requests wait already` };
  }

  #send(request: PendingRequest, connection: StreamConnection): void {
    if (this.#sizes === null) return;
    const invalid = encodeRequest(request, this.#sizes, connection.out);
    if (invalid !== null && request.attempts === 0) {
      this.#resolve(request, invalid);
      return;
    }
    // The epoch of an earlier attempt had other ticks and lots, in which the order may have been placed.
    if (invalid !== null) this.#find(request, connection);
    if (request.attempts > 0) this.#resent += 1;
    request.sent(connection);
  }

  #find({ correlation, question: { order } }: PendingRequest, connection: StreamConnection): void {
    connection.out.find(correlation, { clientId: order.clientId, account: order.account ?? "" });
  }

  #primaryFound(connection: StreamConnection, welcome: Welcome): void {
    this.#streams += 1;
    this.#sizes = sizesOf(welcome);
    this.#seen = Math.max(this.#seen, welcome.committed);
    // In the order in which they were asked: a client's orders do not overtake each other because of a failover.
    for (const request of [...this.#waiting.values()]) this.#send(request, connection);
  }

  #lost(connection: StreamConnection): void {
    for (const request of this.#waiting.values()) if (request.connection === connection) request.lost();
  }

  #answered(connection: StreamConnection, answer: Answer): void {
    switch (answer.type) {
      case "heartbeat":
        this.#seen = Math.max(this.#seen, answer.committed);
        return;
      case "placed":
      case "found":
      case "cancelled":
        this.#acknowledge(answer);
        return;
      case "problem": {
        const request = this.#waiting.get(answer.correlation);
        if (request?.connection === connection) this.#problem(request, answer.frame);
        return;
      }
      case "welcome":
      case "goodbye":
    }
  }

  #acknowledge(answer: Extract<Answer, { type: "placed" | "found" | "cancelled" }>): void {
    const request = this.#waiting.get(answer.correlation);
    if (request === undefined || this.#sizes === null) return;
    this.#link.trust();
    this.#seen = Math.max(this.#seen, answer.frame.seq);
    this.#resolve(request, resultOf(answer, request, this.#sizes));
    this.#pauses.acknowledged(this.#clock(), this.#link.epoch, this.#waiting.size);
  }

  #problem(request: PendingRequest, { code, detail }: ProblemFrame): void {
    switch (code) {
      case "UNKNOWN":
        this.#link.doubt();
        request.retry(this.#clock() + retryMs, null);
        return;
      case "CANNOT_COMMIT":
        this.#link.doubt();
        request.retry(this.#clock() + retryMs, { kind: "refused", code, detail });
        return;
      case "CANCEL_ONLY":
        request.retry(this.#clock() + retryMs, { kind: "refused", code, detail });
        return;
      default:
        this.#resolve(request, { kind: "refused", code, detail });
    }
  }

  #tick(): void {
    this.#link.tick();
    const now = this.#clock();
    const { connection } = this.#link;
    for (const request of this.#waiting.values()) {
      if (request.deadline <= now) this.#giveUp(request, "the deadline has passed");
      else if (connection !== null && request.retryAt <= now) this.#send(request, connection);
    }
  }

  #giveUp(request: PendingRequest, detail: string): void {
    this.#resolve(request, request.outcomeSoFar(detail));
  }

  #resolve(request: PendingRequest, result: OrderResult): void {
    if (!this.#waiting.delete(request.correlation)) return;
    if (result.kind === "refused") this.#refused += 1;
    else if (result.kind === "unresolved") this.#unresolved += 1;
    else this.#acknowledged += 1;
    if (this.#waiting.size === 0 && (result.kind === "refused" || result.kind === "unresolved")) this.#pauses.idle();
    request.resolve(result);
  }
}

const resultOf = (
  answer: Extract<Answer, { type: "placed" | "found" | "cancelled" }>,
  request: PendingRequest,
  sizes: Sizes,
): OrderResult => {
  if (answer.type === "cancelled") return cancelledResult(answer.frame, sizes);
  // An earlier attempt may have been done, and forgotten by the engine since: this rejection says nothing about it.
  if (answer.frame.reason === "CLIENT_ID_EXPIRED" && request.attempts > 1) {
    return {
      kind: "unresolved",
      detail: "the engine may have had the order, and does not remember client ids that long",
    };
  }
  return placedResult(answer.frame, sizes);
};
