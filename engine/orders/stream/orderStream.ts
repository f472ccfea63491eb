import type { Socket } from "node:net";

import type { Order } from "../../book/order.ts";
import { sameRules, type TradingRules } from "../../exchange/tradingRules.ts";
import type { Clock } from "../../process/clock.ts";
import type { Asker, OrderDesk, OrderOutcome, Question } from "../../replica/orderDesk.ts";
import type { PrimaryTerm } from "../../replica/primaryTerm.ts";
import { problemOf } from "../answers.ts";
import { correlationAt, FrameReader, readRequest, type StreamRequest } from "./frameReader.ts";
import { FrameWriter } from "./frameWriter.ts";
import {
  type Goodbye,
  type Increments,
  MalformedFrame,
  maxRequestBytes,
  type PlacedFrame,
  type ProblemCode,
} from "./protocol.ts";
import { faultOfRequest, type OrderRequest } from "./requestFault.ts";

export interface OrderStreamOptions {
  readonly socket: Socket;
  readonly instance: string;
  /** The term that this stream belongs to, and its desk. */
  readonly term: PrimaryTerm;
  readonly desk: OrderDesk;
  readonly rules: TradingRules;
  readonly limits: StreamLimits;
  readonly clock: Clock;
  readonly onAnswered: (outcome: OrderOutcome["kind"] | "invalid", seconds: number) => void;
  readonly onClosed: (stream: OrderStream) => void;
}

export interface StreamLimits {
  /** Requests in hand for one stream; the rest waits in the client's socket. */
  readonly window: number;
  readonly heartbeatMs: number;
  readonly silenceMs: number;
  /** A client that takes nothing for this long is dropped. */
  readonly stuckMs: number;
}

const lingerMs = 500;

/**
 * One client's connection to the primary of one epoch. It holds a bounded amount: it reads no request beyond its
 * window, and none while the client does not take its answers.
 */
export class OrderStream implements Asker {
  readonly #options: OrderStreamOptions;
  readonly #reader = new FrameReader(maxRequestBytes);
  readonly #writer = new FrameWriter();
  #state: "opening" | "open" | "leaving" | "closed" = "opening";
  #inHand = 0;
  #flushScheduled = false;
  #heardAt: number;
  #spokeAt: number;
  /** Since when the client takes nothing; null while it does. */
  #stuckSince: number | null = null;

  constructor(options: OrderStreamOptions) {
    this.#options = options;
    this.#heardAt = options.clock();
    this.#spokeAt = this.#heardAt;
    const { socket } = options;
    socket.setTimeout(0);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("drain", () => this.#unstick());
    socket.on("end", () => this.leave({ code: "BYE", detail: "the client has closed", leader: null }));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#closed());
  }

  get term(): PrimaryTerm {
    return this.#options.term;
  }

  /** Bytes that came with the upgrade request. */
  begin(head: Buffer): void {
    this.welcome();
    if (head.length > 0) this.#read(head);
  }

  /** Says that orders are taken, as soon as the epoch is committed: before that, none could be. */
  welcome(): void {
    const { term, instance, rules, limits } = this.#options;
    if (this.#state !== "opening" || !term.established) return;
    this.#state = "open";
    const { tradingPair, tickSize, lotSize } = rules;
    const { window, heartbeatMs, silenceMs } = limits;
    const committed = term.committedSeq;
    const { epoch } = term;
    this.#writer.welcome({
      instance,
      epoch,
      tradingPair,
      tickSize,
      lotSize,
      committed,
      window,
      heartbeatMs,
      silenceMs,
    });
    this.#scheduleFlush();
    this.#handleFrames();
  }

  /** Takes nothing any more, and closes once everything in hand is answered. */
  leave(goodbye: Goodbye): void {
    if (this.#state === "leaving" || this.#state === "closed") return;
    this.#state = "leaving";
    this.#stuckSince ??= this.#options.clock();
    this.#writer.goodbye(goodbye);
    this.#scheduleFlush();
    // What still comes is thrown away; reading it is the way to learn that the client has closed.
    this.#options.socket.resume();
  }

  /** To be called at every heartbeat. */
  tick(): void {
    const { clock, limits, socket, term } = this.#options;
    const now = clock();
    if (this.#stuckSince !== null && now - this.#stuckSince > limits.stuckMs) {
      socket.destroy();
      return;
    }
    if (this.#state !== "open") return;
    if (!socket.isPaused() && now - this.#heardAt > limits.silenceMs) {
      this.leave({ code: "SILENT", detail: `nothing was heard for ${limits.silenceMs} ms`, leader: null });
      return;
    }
    if (now - this.#spokeAt < limits.heartbeatMs || this.#stuckSince !== null) return;
    this.#writer.serverHeartbeat(term.committedSeq);
    this.#flush();
  }

  answered(question: Question, outcome: OrderOutcome): void {
    if (this.#state === "closed") return;
    this.#inHand -= 1;
    this.#encode(question.tag, outcome);
    this.#options.onAnswered(outcome.kind, (this.#spokeAt - question.askedAt) / 1000);
    this.#scheduleFlush();
  }

  #read(chunk: Buffer): void {
    this.#heardAt = this.#options.clock();
    if (this.#state === "leaving") return;
    this.#reader.push(chunk);
    this.#handleFrames();
  }

  /** Handles what was read, as far as the window allows; the rest waits here, and what follows in the socket. */
  #handleFrames(): void {
    const { socket, limits } = this.#options;
    try {
      while (this.#state === "open" && this.#inHand < limits.window && this.#stuckSince === null) {
        if (!this.#reader.advance()) {
          if (socket.isPaused()) socket.resume();
          return;
        }
        const { bytes, start, end } = this.#reader;
        this.#handle(readRequest(bytes, start, end), correlationAt(bytes, start));
      }
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
      this.leave({ code: "MALFORMED", detail: error.message, leader: null });
    }
    if (this.#state === "open" || this.#state === "opening") socket.pause();
  }

  #handle(request: StreamRequest, correlation: number): void {
    switch (request.kind) {
      case "heartbeat":
        return;
      case "goodbye":
        this.leave({ code: "BYE", detail: "as the client wished", leader: null });
        return;
      case "invalid":
        this.#refuse(correlation, request.code, "the value is not known to this engine");
        return;
      case "order":
      case "replace":
      case "cancel":
      case "find":
        this.#ask(request, correlation);
    }
  }

  #ask(request: OrderRequest, tag: number): void {
    const { desk, rules } = this.#options;
    const fault = faultOfRequest(request);
    if (fault !== null) {
      this.#refuse(tag, fault, "the value is out of its range");
      return;
    }
    const question = { asker: this, tag, askedAt: this.#heardAt };
    this.#inHand += 1;
    switch (request.kind) {
      case "order":
      case "replace":
        desk.place(request, rules, question);
        return;
      case "cancel":
        desk.cancel(request, question);
        return;
      case "find":
        desk.find(request, question);
    }
  }

  #refuse(correlation: number, code: ProblemCode, detail: string): void {
    this.#writer.problem(correlation, { code, detail });
    this.#options.onAnswered("invalid", 0);
    this.#scheduleFlush();
  }

  #encode(correlation: number, outcome: OrderOutcome): void {
    switch (outcome.kind) {
      case "placed": {
        this.#writer.placed(correlation, this.#placedFrame(outcome.order, outcome.duplicate));
        return;
      }
      case "found": {
        const { status, reason, filled, remaining } = outcome.order;
        const now = { status, reason, filled, remaining };
        this.#writer.found(correlation, { ...this.#placedFrame(outcome.order, true), now });
        return;
      }
      case "cancelled": {
        const { order, duplicate } = outcome;
        const { finalEpoch: epoch, finalSeq: seq, epoch: orderEpoch, seq: orderSeq, filled } = order;
        const increments = this.#foreign(order.rules);
        this.#writer.cancelled(correlation, { duplicate, epoch, seq, filled, orderEpoch, orderSeq, increments });
        return;
      }
      default:
        this.#writer.problem(correlation, problemOf(outcome));
    }
  }

  #placedFrame(order: Order, duplicate: boolean): PlacedFrame {
    const { epoch, seq, answer, rules } = order;
    const { status, reason, filled, trades } = answer;
    return { status, reason, duplicate, epoch, seq, filled, trades, increments: this.#foreign(rules) };
  }

  /** An answer of an earlier epoch may be in other ticks and lots, and they need not be whole in today's. */
  #foreign(rules: TradingRules): Increments | null {
    return sameRules(rules, this.#options.rules) ? null : rules;
  }

  /** One write for all answers of a turn of the event loop. */
  #scheduleFlush(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#flushScheduled = false;
    const { socket, clock } = this.#options;
    if (this.#state === "closed") return;
    this.#spokeAt = clock();
    if (this.#writer.length > 0 && !socket.write(this.#writer.take())) this.#stuckSince ??= this.#spokeAt;
    if (this.#state === "leaving" && this.#inHand === 0) this.#end();
    else if (this.#state === "open" && socket.isPaused()) this.#handleFrames();
  }

  /** Lets the client close first: closing on what it has sent meanwhile would lose answers that it has not read. */
  #end(): void {
    const { socket } = this.#options;
    socket.setTimeout(lingerMs, () => socket.destroy());
    socket.end();
  }

  #unstick(): void {
    if (this.#state !== "open") return;
    this.#stuckSince = null;
    this.#handleFrames();
  }

  #closed(): void {
    this.#state = "closed";
    this.#options.onClosed(this);
  }
}
