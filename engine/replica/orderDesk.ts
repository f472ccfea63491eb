import {
  type Applied,
  type CancelResult,
  type Exchange,
  isSameRequest,
  type OrderResult,
} from "../exchange/exchange.ts";
import type { TradingRules } from "../exchange/tradingRules.ts";
import type { PlaceOrder } from "../journal/record.ts";
import type { Clock } from "../process/clock.ts";
import type { Ticket } from "./commitQueue.ts";
import type { Gate, PrimaryTerm } from "./primaryTerm.ts";

/** What a client is told. Nothing but `placed` and `cancelled` is an acknowledgement. */
export type OrderOutcome =
  | { readonly kind: "placed"; readonly result: OrderResult; readonly duplicate: boolean }
  | { readonly kind: "cancelled"; readonly result: CancelResult; readonly duplicate: boolean }
  | { readonly kind: "clientIdReused" }
  | { readonly kind: "notFound" }
  /** Nothing of the order is left in the book. */
  | { readonly kind: "final"; readonly result: OrderResult }
  /** Not sequenced: safe to send again. */
  | { readonly kind: "cannotCommit"; readonly why: string }
  | { readonly kind: "cancelOnly" }
  /** Sequenced, and not known whether committed: ask again by client id. */
  | { readonly kind: "unknown" };

/**
 * Who asks the desk: one object for all questions of a connection, so that an order costs neither a promise nor a
 * closure. Every question is answered once, during the call or later, and answering must not throw.
 */
export interface Asker {
  answered(question: Question, outcome: OrderOutcome): void;
}

export interface Question {
  readonly asker: Asker;
  /** The asker's own name for it. */
  readonly tag: number;
  /** When it was asked, on the desk's clock. */
  readonly askedAt: number;
}

/** Puts one question, asked at `askedAt`, to a desk, and resolves with its answer. */
export const ask = (askedAt: number, put: (question: Question) => void): Promise<OrderOutcome> =>
  new Promise((resolve) => put({ asker: { answered: (_, outcome) => resolve(outcome) }, tag: 0, askedAt }));

const answer = (question: Question, outcome: OrderOutcome): void => question.asker.answered(question, outcome);

/** A command on its way to commit, and everyone who waits for it. */
class PendingCommand implements Ticket {
  readonly #inFlight: Map<string, PendingCommand>;
  readonly #clientId: string;
  /** Null for a cancellation. */
  readonly order: PlaceOrder | null;
  /** Who brought the command; null once UNKNOWN was answered. */
  #first: Question | null;
  /** Those who brought it again. */
  #others: Question[] | null = null;

  constructor(inFlight: Map<string, PendingCommand>, clientId: string, order: PlaceOrder | null, first: Question) {
    this.#inFlight = inFlight;
    this.#clientId = clientId;
    this.order = order;
    this.#first = first;
    inFlight.set(clientId, this);
  }

  join(question: Question): void {
    this.#others ??= [];
    this.#others.push(question);
  }

  applied(effect: Applied): void {
    this.#inFlight.delete(this.#clientId);
    if (this.#first !== null) answer(this.#first, outcomeOf(effect, false));
    if (this.#others !== null) for (const other of this.#others) answer(other, outcomeOf(effect, true));
  }

  /** Answers UNKNOWN to those who asked at `limit` or before. */
  expire(limit: number): void {
    if (this.#first !== null && this.#first.askedAt <= limit) {
      answer(this.#first, unknown);
      this.#first = null;
    }
    if (this.#others === null) return;
    for (const other of this.#others) if (other.askedAt <= limit) answer(other, unknown);
    this.#others = this.#others.filter(({ askedAt }) => askedAt > limit);
  }
}

const unknown: OrderOutcome = { kind: "unknown" };

export interface OrderDeskOptions {
  readonly term: PrimaryTerm;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly commitTimeoutMs: number;
}

/** Takes orders during one term, and sees to it that one client id is one order whatever is sent again. */
export class OrderDesk {
  readonly #options: OrderDeskOptions;
  readonly #placing = new Map<string, PendingCommand>();
  readonly #cancelling = new Map<string, PendingCommand>();

  constructor(options: OrderDeskOptions) {
    this.#options = options;
  }

  /** Places `order`, whose ticks and lots are those of `rules`. */
  place(order: PlaceOrder, rules: TradingRules, question: Question): void {
    const { exchange, term } = this.#options;
    const known = exchange.resultOf(order.clientId);
    if (known !== undefined) {
      if (!isSameRequest(known, order, rules)) answer(question, { kind: "clientIdReused" });
      else this.#answerIfLeading({ kind: "placed", result: known, duplicate: true }, question);
      return;
    }
    const inFlight = this.#placing.get(order.clientId);
    if (inFlight !== undefined) {
      if (isSameOrder(inFlight.order, order)) inFlight.join(question);
      else answer(question, { kind: "clientIdReused" });
      return;
    }
    const gate = term.gate();
    if (gate.kind !== "open") {
      answer(question, refusalOf(gate));
      return;
    }
    term.sequence(order, new PendingCommand(this.#placing, order.clientId, order, question));
  }

  cancel(clientId: string, question: Question): void {
    const { exchange, term } = this.#options;
    const settled = this.#settledCancel(clientId);
    if (settled !== null) {
      this.#answerIfLeading(settled, question);
      return;
    }
    const inFlight = this.#cancelling.get(clientId);
    if (inFlight !== undefined) {
      inFlight.join(question);
      return;
    }
    if (exchange.resultOf(clientId) === undefined && !this.#placing.has(clientId)) {
      this.#answerIfLeading({ kind: "notFound" }, question);
      return;
    }
    const gate = term.gate();
    if (gate.kind === "shut") {
      answer(question, refusalOf(gate));
      return;
    }
    const pending = new PendingCommand(this.#cancelling, clientId, null, question);
    term.sequence({ kind: "cancel", clientId }, pending);
  }

  /** The original answer for a client id. */
  find(clientId: string, question: Question): void {
    const result = this.#options.exchange.resultOf(clientId);
    const inFlight = this.#placing.get(clientId);
    if (result !== undefined) answer(question, { kind: "placed", result, duplicate: true });
    else if (inFlight !== undefined) inFlight.join(question);
    else this.#answerIfLeading({ kind: "notFound" }, question);
  }

  /** Answers UNKNOWN to those who waited too long. To be called at every heartbeat. */
  tick(): void {
    this.#expire(this.#options.clock() - this.#options.commitTimeoutMs);
  }

  /** The term is over: whoever still waits is answered UNKNOWN. */
  end(): void {
    this.#expire(Number.POSITIVE_INFINITY);
    this.#placing.clear();
    this.#cancelling.clear();
  }

  #expire(limit: number): void {
    for (const pending of this.#placing.values()) pending.expire(limit);
    for (const pending of this.#cancelling.values()) pending.expire(limit);
  }

  /** The answer to a cancellation that needs no record any more; null when it needs one, or waits for one. */
  #settledCancel(clientId: string): OrderOutcome | null {
    const { exchange } = this.#options;
    const cancelled = exchange.cancellationOf(clientId);
    if (cancelled !== undefined) return { kind: "cancelled", result: cancelled, duplicate: true };
    if (this.#cancelling.has(clientId)) return null;
    const result = exchange.resultOf(clientId);
    return result === undefined || exchange.isOpen(clientId) ? null : { kind: "final", result };
  }

  /** A primary that was replaced without noticing must not answer from its old state. */
  #answerIfLeading(outcome: OrderOutcome, question: Question): void {
    const { term } = this.#options;
    if (!term.established) {
      answer(question, { kind: "cannotCommit", why: `epoch ${term.epoch} is not committed yet` });
      return;
    }
    void term.proveLeadership().then((proven) => {
      const why = "the standbys do not confirm that this replica still leads";
      answer(question, proven ? outcome : { kind: "cannotCommit", why });
    });
  }
}

/** Both are of one term, so their ticks and lots are the same. */
const isSameOrder = (a: PlaceOrder | null, b: PlaceOrder): boolean =>
  a !== null && a.side === b.side && a.type === b.type && a.price === b.price && a.quantity === b.quantity;

const refusalOf = (gate: Exclude<Gate, { kind: "open" }>): OrderOutcome =>
  gate.kind === "cancelOnly" ? { kind: "cancelOnly" } : { kind: "cannotCommit", why: gate.why };

const outcomeOf = (effect: Applied, duplicate: boolean): OrderOutcome => {
  switch (effect.kind) {
    case "order":
      return { kind: "placed", result: effect.result, duplicate: duplicate || effect.duplicate };
    case "cancelled":
      return { kind: "cancelled", result: effect.result, duplicate };
    case "nothingToCancel":
      return effect.order === null ? { kind: "notFound" } : { kind: "final", result: effect.order };
    case "epochStart":
      throw new Error("nobody waits for an epoch start");
  }
};
