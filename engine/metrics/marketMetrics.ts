import type { Order } from "../book/order.ts";
import type { OrderBook } from "../book/orderBook.ts";
import { type OrderStatus, orderStatuses, orderTypes, type Side } from "../book/terms.ts";
import type { Applied } from "../exchange/exchange.ts";
import { counter, type Family, gauge, Histogram, renderFamily, type Sample } from "./exposition.ts";

const slippageBounds = [-100, -50, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50, 100];
/** Distances from the mid price, in basis points. */
const depthBands = [10, 50] as const;
const bothSides: readonly Side[] = ["buy", "sell"];

/** What became of orders, and what the book looks like. Noting a record allocates nothing. */
export class MarketMetrics {
  readonly #slippage = new Histogram(
    "engine_slippage_bps",
    "A taker's average price against the mid price at its arrival, in basis points; positive is worse for it.",
    slippageBounds,
  );
  /** By type and status, as they stand in their lists. */
  readonly #orders = new Float64Array(orderTypes.length * orderStatuses.length);
  #duplicates = 0;
  #trades = 0;
  /** Before the next record; 0 while a side is empty. */
  #mid = 0;

  /** To be called after each applied record. */
  applied(applied: Applied, book: OrderBook): void {
    this.#trades += applied.effect.trades.length;
    if (applied.kind === "order") {
      if (applied.duplicate) this.#duplicates += 1;
      else this.#note(applied.order);
    }
    this.#mid = midOf(book);
  }

  render(book: OrderBook): string {
    return this.#slippage.render() + [...this.#counted(), ...bookFamilies(book)].map(renderFamily).join("");
  }

  #note(order: Order): void {
    const { answer, terms } = order;
    const cell = orderTypes.indexOf(terms.type) * orderStatuses.length + orderStatuses.indexOf(answer.status);
    this.#orders[cell] = (this.#orders[cell] ?? 0) + 1;
    if (answer.trades.length > 0 && this.#mid > 0) this.#slippage.observe(slippageOf(order, this.#mid));
  }

  #counted(): Family[] {
    return [
      counter("engine_orders_total", "Orders applied, by type and result.", this.#orderSamples()),
      counter("engine_trades_total", "Trades made.", [{ value: this.#trades }]),
      counter("engine_duplicates_total", "Records of orders that had been applied before.", [
        { value: this.#duplicates },
      ]),
    ];
  }

  #orderSamples(): Sample[] {
    return orderTypes.flatMap((type, row) =>
      orderStatuses
        .map((result: OrderStatus, column) => ({
          labels: { type, result },
          value: this.#orders[row * orderStatuses.length + column] ?? 0,
        }))
        .filter(({ value }) => value > 0),
    );
  }
}

/** 0 while a side is empty. */
const midOf = (book: OrderBook): number => {
  const bid = book.bestPrice("buy");
  const ask = book.bestPrice("sell");
  return bid === undefined || ask === undefined ? 0 : (bid + ask) / 2;
};

/** Signed so that positive is worse for the taker, whichever side it is on. */
const slippageOf = ({ answer: { trades }, terms }: Order, mid: number): number => {
  let value = 0;
  let quantity = 0;
  for (let at = 0; at < trades.length; at += 2) {
    const traded = trades[at + 1] ?? 0;
    value += (trades[at] ?? 0) * traded;
    quantity += traded;
  }
  const basisPoints = ((value / quantity - mid) / mid) * 10_000;
  return terms.side === "buy" ? basisPoints : -basisPoints;
};

const bookFamilies = (book: OrderBook): Family[] => {
  const bid = book.bestPrice("buy");
  const ask = book.bestPrice("sell");
  const bySide = (value: (side: Side) => number): Sample[] =>
    bothSides.map((side) => ({ labels: { side }, value: value(side) }));
  return [
    gauge("engine_book_orders", "Resting orders.", [{ value: book.size }]),
    gauge(
      "engine_book_levels",
      "Price levels, by side.",
      bySide((side) => book.levelCount(side)),
    ),
    gauge("engine_book_depth", "Lots within a distance of the mid price, in basis points.", depthSamples(book)),
    gauge(
      "engine_spread_ticks",
      "Best ask minus best bid; absent while a side is empty.",
      bid === undefined || ask === undefined ? [] : [{ value: ask - bid }],
    ),
  ];
};

/** Levels beyond these are not looked at: a scrape must not stop the engine. */
const mostLevels = 1_000;

const depthSamples = (book: OrderBook): Sample[] => {
  const mid = midOf(book);
  if (mid === 0) return [];
  return bothSides.flatMap((side) => {
    const levels = book.depth(side, mostLevels);
    return depthBands.map((band) => ({
      labels: { side, band: `${band}bps` },
      value: levels
        .filter(({ price }) => Math.abs(price - mid) <= (mid * band) / 10_000)
        .reduce((sum, level) => sum + level.quantity, 0),
    }));
  });
};
