import { Effect } from "../book/effect.ts";
import { refuse } from "../book/ending.ts";
import { Order } from "../book/order.ts";
import { OrderBook } from "../book/orderBook.ts";
import type { OrderTerms, Reason } from "../book/terms.ts";
import {
  type CancelOrder,
  type EpochStart,
  type JournalRecord,
  origin,
  type PlaceOrder,
  type Position,
  type ReplaceOrder,
} from "../journal/record.ts";
import { ClientIdTable } from "./clientIdTable.ts";
import { faultOf } from "./commandFaults.ts";
import { Digest } from "./digest.ts";
import { digestEffect } from "./effectDigest.ts";
import { HashHistory } from "./hashHistory.ts";
import { reexpress } from "./reexpress.ts";
import { noTerms, replacementFor } from "./replacement.ts";
import { isSameRequest } from "./sameRequest.ts";
import { StateReader } from "./stateReader.ts";
import { type ExchangeState, writeState } from "./stateWriter.ts";
import { sameRules, type TradingRules, tradingRules } from "./tradingRules.ts";

/** What became of one record. `effect` is all that it changed; the rest is what its sender is answered from. */
export type Applied = { readonly effect: Effect } & (
  | { readonly kind: "epochStart" }
  /** A new order or replacement; a `duplicate` was applied before, and its first answer stands. */
  | { readonly kind: "order"; readonly order: Order; readonly duplicate: boolean }
  /** The client id belongs to another order. */
  | { readonly kind: "clientIdReused"; readonly order: Order }
  | { readonly kind: "cancelled"; readonly order: Order; readonly duplicate: boolean }
  /** A cancellation that came too late, or of an order that is not known. */
  | { readonly kind: "nothingToCancel"; readonly order: Order | null }
);

/**
 * The replicated state machine: the book and the table of client ids. Applying the same records
 * gives the same state on every replica; no clock, no randomness and no file takes part.
 */
export class Exchange {
  #book: OrderBook;
  #rules: TradingRules | null;
  #clientIdWindow: number;
  #applied: Position;
  #table: ClientIdTable;
  #digest: Digest;
  #hashes = new HashHistory();

  /** An exchange that goes on from `state`, which it takes over. */
  constructor(state: ExchangeState = newState()) {
    this.#book = state.book;
    this.#rules = state.rules;
    this.#clientIdWindow = state.clientIdWindow;
    this.#applied = state.applied;
    this.#table = state.table;
    this.#digest = state.digest;
  }

  get book(): OrderBook {
    return this.#book;
  }

  /** Null before the first epoch. */
  get rules(): TradingRules | null {
    return this.#rules;
  }

  /** Epoch and sequence number of the last applied record. */
  get applied(): Position {
    return this.#applied;
  }

  get appliedSeq(): number {
    return this.#applied.seq;
  }

  get appliedEpoch(): number {
    return this.#applied.epoch;
  }

  get lastHash(): { seq: number; hash: string } {
    return { seq: this.#applied.seq, hash: this.#digest.toString() };
  }

  /** Orders that are found by client id: the open ones and the latest final ones. */
  get knownOrders(): number {
    return this.#table.size;
  }

  /** Hash right after record `seq` was applied; null when that is not reached or too long ago. */
  hashAt(seq: number): string | null {
    return seq === this.appliedSeq ? this.#digest.toString() : this.#hashes.at(seq);
  }

  /** The order with this client id: its first answer and where it stands now. Undefined when there is none, or none any more. */
  orderOf(clientId: string, account = ""): Order | undefined {
    return this.#table.find(account, clientId);
  }

  /** Whether a cancellation of this order would still take something out of the book. */
  isOpen(clientId: string, account = ""): boolean {
    return this.orderOf(clientId, account)?.isOpen ?? false;
  }

  /**
   * All of the replicated state, in chunks of at most 256 KiB; {@link restoreExchange} makes an exchange of them. The same
   * state gives the same bytes on every replica. Apply nothing until the last chunk is taken, or the next one throws.
   */
  *serialise(): Generator<Buffer> {
    const { seq } = this.#applied;
    for (const chunk of writeState(this.#state())) {
      yield chunk;
      if (this.#applied.seq !== seq)
        throw new Error(`record ${this.appliedSeq} was applied while the state was written`);
    }
  }

  /** Goes on from the state of `other`, which must not be used any more. Whoever holds this exchange keeps holding it. */
  become(other: Exchange): void {
    this.#book = other.#book;
    this.#rules = other.#rules;
    this.#clientIdWindow = other.#clientIdWindow;
    this.#applied = other.#applied;
    this.#table = other.#table;
    this.#digest = other.#digest;
    this.#hashes = other.#hashes;
  }

  /** Applies the next record. Throws when it is not the next one, or when the state machine itself is at fault. */
  apply(record: JournalRecord): Applied {
    if (record.seq !== this.appliedSeq + 1) {
      throw new Error(`record ${record.seq} was to be applied after record ${this.appliedSeq}`);
    }
    const position = { epoch: record.epoch, seq: record.seq };
    const applied = this.#dispatch(record, position);
    for (const order of applied.effect.ended) this.#table.finish(order, position);
    this.#applied = position;
    this.#table.forgetBefore(record.seq - this.#clientIdWindow);
    this.#digest.number(record.seq);
    this.#digest.number(record.epoch);
    digestEffect(applied.effect, this.#digest);
    this.#hashes.add(record.seq, this.#digest);
    return applied;
  }

  #dispatch({ command }: JournalRecord, position: Position): Applied {
    switch (command.kind) {
      case "epochStart":
        return this.#startEpoch(command);
      case "order":
      case "replace":
        return this.#newOrder(command, position);
      case "cancel":
        return this.#cancelOrder(command);
    }
  }

  #startEpoch(start: EpochStart): Applied {
    const effect = new Effect();
    const rules = tradingRules(start.tradingPair, start.tickSize, start.lotSize);
    const { tradingPair, tickSize, lotSize } = rules;
    this.#digest.text(`${tradingPair} ${tickSize} ${lotSize} ${start.clientIdWindow}`);
    this.#clientIdWindow = start.clientIdWindow;
    const previous = this.#rules;
    if (previous !== null && sameRules(previous, rules)) return { kind: "epochStart", effect };
    this.#rules = rules;
    if (previous !== null) this.#book = reexpress(this.#book, previous, rules, effect);
    return { kind: "epochStart", effect };
  }

  #newOrder(request: PlaceOrder | ReplaceOrder, position: Position): Applied {
    this.#digest.text(request.account);
    this.#digest.text(request.clientId);
    const known = this.#table.find(request.account, request.clientId);
    if (known !== undefined) return this.#again(known, request);
    const effect = new Effect();
    const fault = faultOf(request) ?? this.#expiry(request, position);
    if (fault !== null) {
      const order = this.#create(position, request, request.kind === "order" ? request : noTerms);
      refuse(order, fault, effect);
      return { kind: "order", order, duplicate: false, effect };
    }
    const order =
      request.kind === "order" ? this.#place(request, position, effect) : this.#replace(request, position, effect);
    return { kind: "order", order, duplicate: false, effect };
  }

  #again(known: Order, request: PlaceOrder | ReplaceOrder): Applied {
    const effect = new Effect();
    if (!isSameRequest(known, request, this.#currentRules())) return { kind: "clientIdReused", order: known, effect };
    return { kind: "order", order: known, duplicate: true, effect };
  }

  /** An order of this client id may have been applied, become final and been forgotten since it was sent first. */
  #expiry({ after }: PlaceOrder | ReplaceOrder, { seq }: Position): Reason | null {
    return after > 0 && seq - after > this.#clientIdWindow ? "CLIENT_ID_EXPIRED" : null;
  }

  #place(request: PlaceOrder, position: Position, effect: Effect): Order {
    const order = this.#create(position, request, request);
    this.#table.add(order);
    this.#book.place(order, effect);
    return order;
  }

  #replace(request: ReplaceOrder, position: Position, effect: Effect): Order {
    const target = this.#table.find(request.account, request.target);
    const replacement = replacementFor(target, request);
    const order = this.#create(position, request, replacement.terms);
    this.#table.add(order);
    if (replacement.kind === "refused") {
      refuse(order, replacement.reason, effect);
      return order;
    }
    order.filled = replacement.target.filled;
    order.remaining = replacement.remaining;
    this.#book.replace(replacement.target, order, effect);
    return order;
  }

  #cancelOrder({ account, clientId }: CancelOrder): Applied {
    const effect = new Effect();
    const order = this.#table.find(account, clientId);
    if (order === undefined) return { kind: "nothingToCancel", order: null, effect };
    if (order.isOpen) {
      this.#book.cancel(order, "REQUESTED", effect);
      return { kind: "cancelled", order, duplicate: false, effect };
    }
    if (order.reason === "REQUESTED") return { kind: "cancelled", order, duplicate: true, effect };
    return { kind: "nothingToCancel", order, effect };
  }

  #create(position: Position, request: PlaceOrder | ReplaceOrder, terms: OrderTerms): Order {
    return new Order(position, this.#table.account(request.account), request, terms, this.#currentRules());
  }

  #state(): ExchangeState {
    return {
      applied: this.#applied,
      rules: this.#rules,
      clientIdWindow: this.#clientIdWindow,
      digest: this.#digest,
      book: this.#book,
      table: this.#table,
    };
  }

  #currentRules(): TradingRules {
    if (this.#rules === null) throw new Error("an order precedes the first epoch start");
    return this.#rules;
  }
}

const newState = (): ExchangeState => ({
  applied: origin,
  rules: null,
  clientIdWindow: 0,
  digest: new Digest(),
  book: new OrderBook(),
  table: new ClientIdTable(),
});

/** The exchange whose {@link Exchange.serialise} gave these chunks. Throws `UnreadableState` when they are not what it gave. */
export const restoreExchange = async (chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Exchange> => {
  const reader = new StateReader();
  for await (const chunk of chunks) reader.chunk(chunk);
  return new Exchange(reader.finish());
};
