import type { Order } from "../book/order.ts";
import type { Applied, Exchange } from "../exchange/exchange.ts";
import { asksTheSame, isSameRequest } from "../exchange/sameRequest.ts";
import type { TradingRules } from "../exchange/tradingRules.ts";
import type { CancelOrder, PlaceOrder, ReplaceOrder, Request } from "../journal/record.ts";
import type { Clock } from "../process/clock.ts";
import type { Ticket } from "./commitQueue.ts";
import type { Gate, PrimaryTerm } from "./primaryTerm.ts";

/** What a client is told. Nothing but `placed` and `cancelled` is an acknowledgement. */
export type OrderOutcome =
  /** A new order, or one in the place of another, was applied; its answer says whether it was refused. */
  | { readonly kind: "placed"; readonly order: Order; readonly duplicate: boolean }
  | { readonly kind: "found"; readonly order: Order }
  | { readonly kind: "cancelled"; readonly order: Order; readonly duplicate: boolean }
  | { readonly kind: "clientIdReused" }
  | { readonly kind: "notFound" }
  /** Nothing of the order is left in the book. */
  | { readonly kind: "final"; readonly order: Order }
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
  readonly #key: string;
  /** Null for a cancellation. */
  readonly request: PlaceOrder | ReplaceOrder | null;
  /** Who brought the command; null once UNKNOWN was answered. */
  #first: Question | null;
  /** Those who brought it again. */
  #others: Question[] | null = null;

  constructor(
    inFlight: Map<string, PendingCommand>,
    key: string,
    request: PlaceOrder | ReplaceOrder | null,
    first: Question,
  ) {
    this.#inFlight = inFlight;
    this.#key = key;
    this.request = request;
    this.#first = first;
    inFlight.set(key, this);
  }

  join(question: Question): void {
    this.#others ??= [];
    this.#others.push(question);
  }

  applied(effect: Applied): void {
    this.#inFlight.delete(this.#key);
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
  /** By account and client id, as `#cancelling`. */
  readonly #placing = new Map<string, PendingCommand>();
  readonly #cancelling = new Map<string, PendingCommand>();

  constructor(options: OrderDeskOptions) {
    this.#options = options;
  }

  /** Places an order, or one in the place of another. Its ticks and lots are those of `rules`. */
  place(request: PlaceOrder | ReplaceOrder, rules: TradingRules, question: Question): void {
    const { exchange, term } = this.#options;
    const known = exchange.orderOf(request.clientId, request.account);
    if (known !== undefined) {
      if (!isSameRequest(known, request, rules)) answer(question, { kind: "clientIdReused" });
      else this.#answerIfLeading({ kind: "placed", order: known, duplicate: true }, question);
      return;
    }
    const key = keyOf(request);
    const inFlight = this.#placing.get(key);
    if (inFlight !== undefined) {
      // Both are of one term, so their ticks and lots are the same.
      if (inFlight.request !== null && asksTheSame(inFlight.request, request)) inFlight.join(question);
      else answer(question, { kind: "clientIdReused" });
      return;
    }
    const gate = term.gate();
    if (gate.kind !== "open") {
      answer(question, refusalOf(gate));
      return;
    }
    term.sequence(request, new PendingCommand(this.#placing, key, request, question));
  }

  cancel(cancel: CancelOrder, question: Question): void {
    const { exchange, term } = this.#options;
    const key = keyOf(cancel);
    const order = exchange.orderOf(cancel.clientId, cancel.account);
    const inFlight = this.#cancelling.get(key);
    const settled = order === undefined ? null : settledCancel(order, inFlight !== undefined);
    if (settled !== null) {
      this.#answerIfLeading(settled, question);
      return;
    }
    if (inFlight !== undefined) {
      inFlight.join(question);
      return;
    }
    if (order === undefined && !this.#placing.has(key)) {
      this.#answerIfLeading({ kind: "notFound" }, question);
      return;
    }
    const gate = term.gate();
    if (gate.kind === "shut") {
      answer(question, refusalOf(gate));
      return;
    }
    term.sequence(cancel, new PendingCommand(this.#cancelling, key, null, question));
  }

  /** The original answer for a client id, and where its order stands now. */
  find(id: Request, question: Question): void {
    const order = this.#options.exchange.orderOf(id.clientId, id.account);
    const inFlight = this.#placing.get(keyOf(id));
    if (order !== undefined) this.#answerIfLeading({ kind: "found", order }, question);
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

/** No account has a slash in its name. */
const keyOf = ({ account, clientId }: Request): string => `${account}/${clientId}`;

/** The answer to a cancellation that needs no record any more; null when it needs one, or waits for one. */
const settledCancel = (order: Order, inFlight: boolean): OrderOutcome | null => {
  if (order.reason === "REQUESTED") return { kind: "cancelled", order, duplicate: true };
  return order.isOpen || inFlight ? null : { kind: "final", order };
};

const refusalOf = (gate: Exclude<Gate, { kind: "open" }>): OrderOutcome =>
  gate.kind === "cancelOnly" ? { kind: "cancelOnly" } : { kind: "cannotCommit", why: gate.why };

const outcomeOf = (effect: Applied, duplicate: boolean): OrderOutcome => {
  switch (effect.kind) {
    case "order":
      return { kind: "placed", order: effect.order, duplicate: duplicate || effect.duplicate };
    case "clientIdReused":
      return { kind: "clientIdReused" };
    case "cancelled":
      return { kind: "cancelled", order: effect.order, duplicate: duplicate || effect.duplicate };
    case "nothingToCancel":
      return effect.order === null ? { kind: "notFound" } : { kind: "final", order: effect.order };
    case "epochStart":
      throw new Error("nobody waits for an epoch start");
  }
};
