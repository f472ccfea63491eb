import type { Effect } from "../book/effect.ts";
import type { Order } from "../book/order.ts";
import type { OrderBook } from "../book/orderBook.ts";
import type { Side } from "../book/terms.ts";
import type { Position } from "../journal/record.ts";
import type { MarketEvent, MarketLevel } from "./marketBatch.ts";

const noTrades: MarketEvent["trades"] = [];

/**
 * What a record did to the market: its trades, and what every price that it touched holds now. Null when it touched none.
 * To be called before the next record is applied, since the effect's orders are the living ones.
 */
export const marketEventOf = (position: Position, effect: Effect, book: OrderBook): MarketEvent | null => {
  const touched = new TouchedPrices();
  for (const { maker, price } of effect.trades) touched.add(maker.terms.side, price);
  touched.addAll(effect.rested);
  // The record's own order: what of it rested is among those above, and the end of the rest touches no price.
  touched.addAll(effect.ended.filter(({ seq }) => seq !== position.seq));
  touched.addAll(effect.reduced);
  if (touched.isEmpty) return null;
  const trades =
    effect.trades.length === 0
      ? noTrades
      : effect.trades.map(({ taker, price, quantity }) => ({ price, quantity, side: taker.terms.side }));
  const levels = touched.levels(book);
  const { epoch, seq } = position;
  return { seq, epoch, bestBid: book.bestPrice("buy") ?? 0, bestAsk: book.bestPrice("sell") ?? 0, trades, levels };
};

/** Prices of both sides, each once. A sweep of one level touches it once for every order in it. */
class TouchedPrices {
  readonly #bids: number[] = [];
  readonly #asks: number[] = [];
  /** Only once there are many: for a few, looking through them is quicker. */
  #seen: Set<number> | null = null;

  get isEmpty(): boolean {
    return this.#bids.length + this.#asks.length === 0;
  }

  addAll(orders: readonly Order[]): void {
    // An order without a price never rested.
    for (const { terms } of orders) if (terms.price > 0) this.add(terms.side, terms.price);
  }

  add(side: Side, price: number): void {
    const prices = side === "buy" ? this.#bids : this.#asks;
    if (prices.at(-1) === price || this.#isSeen(side, price, prices)) return;
    prices.push(price);
    this.#seen?.add(signed(side, price));
  }

  levels(book: OrderBook): MarketLevel[] {
    return [
      ...this.#bids.map((price) => levelOf(book, "buy", price)),
      ...this.#asks.map((price) => levelOf(book, "sell", price)),
    ];
  }

  #isSeen(side: Side, price: number, prices: readonly number[]): boolean {
    if (prices.length < few) return prices.includes(price);
    this.#seen ??= new Set([...this.#bids, ...this.#asks.map((ask) => signed("sell", ask))]);
    return this.#seen.has(signed(side, price));
  }
}

const few = 8;
const signed = (side: Side, price: number): number => (side === "buy" ? price : -price);

const levelOf = (book: OrderBook, side: Side, price: number): MarketLevel => {
  const level = book.level(side, price);
  return { side, price, quantity: level?.quantity ?? 0, orders: level?.orders ?? 0 };
};
