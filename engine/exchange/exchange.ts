import { type Fill, OrderBook } from "../book/orderBook.ts";
import type { CancelOrder, EpochStart, JournalRecord, PlaceOrder, Position } from "../journal/record.ts";
import { Digest } from "./digest.ts";
import { HashHistory } from "./hashHistory.ts";
import { convertIncrements, sameIncrements, type TradingRules, tradingRules } from "./tradingRules.ts";

export type OrderStatus = "resting" | "partiallyFilled" | "filled" | "cancelled" | "rejected";

/** What became of an order when it was applied. It never changes, so that it can be answered again. */
export interface OrderResult {
  readonly position: Position;
  readonly order: PlaceOrder;
  /** Ticks and lots of `order`, `filled` and `fills` are of these rules. */
  readonly rules: TradingRules;
  readonly status: OrderStatus;
  readonly filled: number;
  readonly fills: readonly Fill[];
}

/** What a cancellation found. `rules` are those of its own time. */
export interface CancelResult {
  readonly position: Position;
  readonly order: OrderResult;
  readonly rules: TradingRules;
  readonly filled: number;
}

/** The effect of one record. */
export type Applied =
  | { readonly kind: "epochStart" }
  | { readonly kind: "order"; readonly result: OrderResult; readonly duplicate: boolean }
  | { readonly kind: "cancelled"; readonly result: CancelResult }
  /** A cancellation that came too late, or of an order that never was. */
  | { readonly kind: "nothingToCancel"; readonly order: OrderResult | null };

interface Account {
  readonly result: OrderResult;
  cancelled: CancelResult | null;
}

/**
 * The replicated state machine: the book and the table of client ids. Applying the same records
 * gives the same state on every replica; no clock, no randomness and no file takes part.
 */
export class Exchange {
  #book = new OrderBook();
  #rules: TradingRules | null = null;
  #appliedSeq = 0;
  readonly #accounts = new Map<string, Account>();
  readonly #digest = new Digest();
  readonly #hashes = new HashHistory();

  get book(): OrderBook {
    return this.#book;
  }

  /** Null before the first epoch. */
  get rules(): TradingRules | null {
    return this.#rules;
  }

  get appliedSeq(): number {
    return this.#appliedSeq;
  }

  get lastHash(): { seq: number; hash: string } {
    return { seq: this.#appliedSeq, hash: this.#digest.toString() };
  }

  /** Hash right after record `seq` was applied; null when that is not reached or too long ago. */
  hashAt(seq: number): string | null {
    return seq === this.#appliedSeq ? this.#digest.toString() : this.#hashes.at(seq);
  }

  resultOf(clientId: string): OrderResult | undefined {
    return this.#accounts.get(clientId)?.result;
  }

  cancellationOf(clientId: string): CancelResult | undefined {
    return this.#accounts.get(clientId)?.cancelled ?? undefined;
  }

  /** Whether a cancellation of this order would still take something out of the book. */
  isOpen(clientId: string): boolean {
    const account = this.#accounts.get(clientId);
    return account !== undefined && this.#book.get(account.result.position.seq) !== undefined;
  }

  /** Applies the next record. Throws when it is not the next one, or when the state machine itself is at fault. */
  apply(record: JournalRecord): Applied {
    if (record.seq !== this.#appliedSeq + 1) {
      throw new Error(`record ${record.seq} was to be applied after record ${this.#appliedSeq}`);
    }
    const applied = this.#dispatch(record);
    this.#appliedSeq = record.seq;
    this.#digest.number(record.seq);
    this.#digest.number(record.epoch);
    this.#hashes.add(record.seq, this.#digest);
    return applied;
  }

  #dispatch(record: JournalRecord): Applied {
    const position = { epoch: record.epoch, seq: record.seq };
    switch (record.command.kind) {
      case "epochStart":
        this.#startEpoch(record.command, position);
        return { kind: "epochStart" };
      case "order":
        return this.#placeOrder(record.command, position);
      case "cancel":
        return this.#cancelOrder(record.command, position);
    }
  }

  #startEpoch(start: EpochStart, position: Position): void {
    const rules = tradingRules(start.tradingPair, start.tickSize, start.lotSize);
    const previous = this.#rules;
    this.#rules = rules;
    this.#digest.text(`${rules.tradingPair} ${rules.tickSize} ${rules.lotSize}`);
    if (previous !== null && !sameIncrements(previous, rules)) this.#reexpress(previous, rules, position);
  }

  /** Carries the book over to other increments. An order that is not whole in them is cancelled. */
  #reexpress(from: TradingRules, to: TradingRules, position: Position): void {
    const old = this.#book;
    this.#book = new OrderBook();
    const byId = new Map([...this.#accounts.values()].map((account) => [account.result.position.seq, account]));
    for (const order of old.orders()) {
      const price = convertIncrements(order.price, from.tick, to.tick);
      const quantity = convertIncrements(order.quantity, from.lot, to.lot);
      const remaining = convertIncrements(order.remaining, from.lot, to.lot);
      if (price !== null && quantity !== null && remaining !== null) {
        this.#book.restore({ id: order.id, side: order.side, price, quantity, remaining });
        continue;
      }
      const account = byId.get(order.id);
      if (account === undefined)
        throw new Error(`order ${order.id} is in the book, but not in the table of client ids`);
      const filled = order.quantity - order.remaining;
      account.cancelled = { position, order: account.result, rules: from, filled };
      this.#digest.number(order.id);
    }
  }

  #placeOrder(order: PlaceOrder, position: Position): Applied {
    const known = this.#accounts.get(order.clientId);
    if (known !== undefined) return { kind: "order", result: known.result, duplicate: true };
    const limit = order.type === "limit" ? order.price : null;
    const placement = this.#book.place({ id: position.seq, side: order.side, limit, quantity: order.quantity });
    const filled = placement.rejected ? 0 : order.quantity - placement.remaining;
    const status = placement.rejected ? "rejected" : statusOf(order, filled);
    const result = { position, order, rules: this.#currentRules(), status, filled, fills: placement.fills };
    this.#accounts.set(order.clientId, { result, cancelled: null });
    this.#digest.text(order.clientId);
    this.#digest.text(status);
    for (const fill of placement.fills) {
      this.#digest.number(fill.maker);
      this.#digest.number(fill.price);
      this.#digest.number(fill.quantity);
    }
    return { kind: "order", result, duplicate: false };
  }

  #cancelOrder(cancel: CancelOrder, position: Position): Applied {
    const account = this.#accounts.get(cancel.clientId);
    if (account === undefined) return { kind: "nothingToCancel", order: null };
    const order = this.#book.cancel(account.result.position.seq);
    if (order === undefined) return alreadyGone(account);
    const filled = order.quantity - order.remaining;
    account.cancelled = { position, order: account.result, rules: this.#currentRules(), filled };
    this.#digest.number(order.id);
    this.#digest.number(order.remaining);
    return { kind: "cancelled", result: account.cancelled };
  }

  #currentRules(): TradingRules {
    if (this.#rules === null) throw new Error("an order precedes the first epoch start");
    return this.#rules;
  }
}

const alreadyGone = ({ result, cancelled }: Account): Applied =>
  cancelled === null ? { kind: "nothingToCancel", order: result } : { kind: "cancelled", result: cancelled };

const statusOf = (order: PlaceOrder, filled: number): OrderStatus => {
  if (filled === order.quantity) return "filled";
  if (order.type === "market") return "cancelled";
  return filled > 0 ? "partiallyFilled" : "resting";
};

/** Whether `order`, in the increments of `rules`, asks for what `result` was given for. */
export const isSameRequest = (result: OrderResult, order: PlaceOrder, rules: TradingRules): boolean => {
  const original = result.order;
  return (
    original.side === order.side &&
    original.type === order.type &&
    convertIncrements(original.price, result.rules.tick, rules.tick) === order.price &&
    convertIncrements(original.quantity, result.rules.lot, rules.lot) === order.quantity
  );
};
