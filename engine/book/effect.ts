import type { Order } from "./order.ts";

/** One trade, at the resting order's price. The i-th of record seq has the id `seq-i`, from 1. */
export interface Trade {
  /** The order that rested. */
  readonly maker: Order;
  /** The order that came: that of the record, or a stop that an earlier trade triggered. */
  readonly taker: Order;
  /** Ticks. */
  readonly price: number;
  /** Lots. */
  readonly quantity: number;
}

/** Price and quantity of the trades that `taker` made, one after the other. */
export const tradesOf = (taker: Order, trades: readonly Trade[]): number[] => {
  const own: number[] = [];
  for (const trade of trades) if (trade.taker === taker) own.push(trade.price, trade.quantity);
  return own;
};

const none: readonly never[] = [];

/**
 * All that one record changed, each list in the order it happened. The orders are the living ones: they tell how things
 * stand after the record only until the next one is applied, so take from them what is to be kept.
 */
export class Effect {
  #trades: Trade[] | null = null;
  #rested: Order[] | null = null;
  #ended: Order[] | null = null;
  #reduced: Order[] | null = null;
  #triggered: Order[] | null = null;

  get trades(): readonly Trade[] {
    return this.#trades ?? none;
  }

  /** Orders that joined the book, or a replaced order's place in it. */
  get rested(): readonly Order[] {
    return this.#rested ?? none;
  }

  /** Orders that are final now: filled, cancelled or rejected; status and reason say which and why. */
  get ended(): readonly Order[] {
    return this.#ended ?? none;
  }

  /** Orders whose open quantity self-trade prevention lowered. */
  get reduced(): readonly Order[] {
    return this.#reduced ?? none;
  }

  /** Stops that trades triggered. */
  get triggered(): readonly Order[] {
    return this.#triggered ?? none;
  }

  addTrade(maker: Order, taker: Order, price: number, quantity: number): void {
    (this.#trades ??= []).push({ maker, taker, price, quantity });
  }

  addRested(order: Order): void {
    (this.#rested ??= []).push(order);
  }

  addEnded(order: Order): void {
    (this.#ended ??= []).push(order);
  }

  addReduced(order: Order): void {
    (this.#reduced ??= []).push(order);
  }

  addTriggered(order: Order): void {
    (this.#triggered ??= []).push(order);
  }
}
