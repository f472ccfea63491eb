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

interface Waiter {
  readonly deadline: number;
  /** Asked for a command that another request had brought. */
  readonly duplicate: boolean;
  readonly resolve: (outcome: OrderOutcome) => void;
}

/** A command on its way to commit, and everyone who waits for it. */
class PendingCommand implements Ticket {
  readonly #onApplied: () => void;
  #waiters: Waiter[] = [];
  #requests = 0;

  constructor(onApplied: () => void) {
    this.#onApplied = onApplied;
  }

  wait(deadline: number): Promise<OrderOutcome> {
    this.#requests += 1;
    const duplicate = this.#requests > 1;
    return new Promise((resolve) => this.#waiters.push({ deadline, duplicate, resolve }));
  }

  applied(effect: Applied): void {
    this.#onApplied();
    for (const { duplicate, resolve } of this.#waiters) resolve(outcomeOf(effect, duplicate));
    this.#waiters = [];
  }

  expire(now: number): void {
    for (const waiter of this.#waiters) if (waiter.deadline <= now) waiter.resolve({ kind: "unknown" });
    this.#waiters = this.#waiters.filter((waiter) => waiter.deadline > now);
  }
}

export interface OrderDeskOptions {
  readonly term: PrimaryTerm;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly commitTimeoutMs: number;
}

/** Takes orders during one term, and sees to it that one client id is one order whatever is sent again. */
export class OrderDesk {
  readonly #options: OrderDeskOptions;
  readonly #placing = new Map<string, { readonly order: PlaceOrder; readonly pending: PendingCommand }>();
  readonly #cancelling = new Map<string, PendingCommand>();

  constructor(options: OrderDeskOptions) {
    this.#options = options;
  }

  /** Places `order`, whose ticks and lots are those of `rules`. */
  async place(order: PlaceOrder, rules: TradingRules): Promise<OrderOutcome> {
    const known = this.#options.exchange.resultOf(order.clientId);
    if (known !== undefined) {
      if (!isSameRequest(known, order, rules)) return { kind: "clientIdReused" };
      return this.#ifLeading({ kind: "placed", result: known, duplicate: true });
    }
    const inFlight = this.#placing.get(order.clientId);
    if (inFlight !== undefined) {
      if (!isSameOrder(inFlight.order, order)) return { kind: "clientIdReused" };
      return inFlight.pending.wait(this.#deadline());
    }
    const gate = this.#options.term.gate();
    if (gate.kind !== "open") return refusalOf(gate);
    const pending = new PendingCommand(() => this.#placing.delete(order.clientId));
    this.#placing.set(order.clientId, { order, pending });
    this.#options.term.sequence(order, pending);
    return pending.wait(this.#deadline());
  }

  async cancel(clientId: string): Promise<OrderOutcome> {
    const { exchange, term } = this.#options;
    const cancelled = exchange.cancellationOf(clientId);
    if (cancelled !== undefined) return this.#ifLeading({ kind: "cancelled", result: cancelled, duplicate: true });
    const inFlight = this.#cancelling.get(clientId);
    if (inFlight !== undefined) return inFlight.wait(this.#deadline());
    const result = exchange.resultOf(clientId);
    if (result !== undefined && !exchange.isOpen(clientId)) return this.#ifLeading({ kind: "final", result });
    if (result === undefined && !this.#placing.has(clientId)) return this.#ifLeading({ kind: "notFound" });
    const gate = term.gate();
    if (gate.kind === "shut") return refusalOf(gate);
    const pending = new PendingCommand(() => this.#cancelling.delete(clientId));
    this.#cancelling.set(clientId, pending);
    term.sequence({ kind: "cancel", clientId }, pending);
    return pending.wait(this.#deadline());
  }

  /** The original answer for a client id. */
  async find(clientId: string): Promise<OrderOutcome> {
    const result = this.#options.exchange.resultOf(clientId);
    if (result !== undefined) return { kind: "placed", result, duplicate: true };
    const inFlight = this.#placing.get(clientId);
    if (inFlight !== undefined) return inFlight.pending.wait(this.#deadline());
    return this.#ifLeading({ kind: "notFound" });
  }

  /** Answers UNKNOWN to those who waited too long. To be called at every heartbeat. */
  tick(): void {
    const now = this.#options.clock();
    for (const pending of this.#pending()) pending.expire(now);
  }

  /** The term is over: whoever still waits is answered UNKNOWN. */
  end(): void {
    for (const pending of this.#pending()) pending.expire(Number.POSITIVE_INFINITY);
    this.#placing.clear();
    this.#cancelling.clear();
  }

  *#pending(): Generator<PendingCommand> {
    for (const { pending } of this.#placing.values()) yield pending;
    yield* this.#cancelling.values();
  }

  /** A primary that was replaced without noticing must not answer from its old state. */
  async #ifLeading(outcome: OrderOutcome): Promise<OrderOutcome> {
    if (!this.#options.term.established) {
      return { kind: "cannotCommit", why: `epoch ${this.#options.term.epoch} is not committed yet` };
    }
    if (await this.#options.term.proveLeadership()) return outcome;
    return { kind: "cannotCommit", why: "the standbys do not confirm that this replica still leads" };
  }

  #deadline(): number {
    return this.#options.clock() + this.#options.commitTimeoutMs;
  }
}

/** Both are of one term, so their ticks and lots are the same. */
const isSameOrder = (a: PlaceOrder, b: PlaceOrder): boolean =>
  a.side === b.side && a.type === b.type && a.price === b.price && a.quantity === b.quantity;

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
