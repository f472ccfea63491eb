import type { Effect } from "../book/effect.ts";
import { end } from "../book/ending.ts";
import type { Answer, Order } from "../book/order.ts";
import { OrderBook } from "../book/orderBook.ts";
import { convertIncrements, type TradingRules } from "./tradingRules.ts";

/**
 * Carries the open orders of `book` over to a new book in other increments, each in its place. One that is not whole in them, or whose
 * trades are not, is cancelled; so is one that no longer fits into its price's sum.
 */
export const reexpress = (book: OrderBook, from: TradingRules, to: TradingRules, effect: Effect): OrderBook => {
  const { lastPrice } = book;
  const carried = new OrderBook(lastPrice === null ? null : convertIncrements(lastPrice, from.tick, to.tick));
  // Moving an order changes the links that the old book's iteration goes by.
  for (const order of [...book.orders(), ...book.stops()]) {
    order.level = null;
    order.previous = null;
    order.next = null;
    if (!convert(order, from, to) || !carried.restore(order)) end(order, "cancelled", "INCREMENTS", effect);
  }
  return carried;
};

/** Rewrites all numbers of `order`, or none of them when one is not whole in the new increments. */
const convert = (order: Order, from: TradingRules, to: TradingRules): boolean => {
  const conversion = new Conversion(from, to);
  const request = { ...order.request, ...conversion.terms(order.request) };
  const terms = { ...order.terms, ...conversion.terms(order.terms) };
  const answer = conversion.answer(order.answer);
  const remaining = conversion.lots(order.remaining);
  const filled = conversion.lots(order.filled);
  if (!conversion.isWhole) return false;
  order.request = request;
  order.terms = order.request.kind === "order" ? order.request : terms;
  order.answer = answer;
  order.remaining = remaining;
  order.filled = filled;
  order.rules = to;
  return true;
};

class Conversion {
  isWhole = true;
  readonly #from: TradingRules;
  readonly #to: TradingRules;

  constructor(from: TradingRules, to: TradingRules) {
    this.#from = from;
    this.#to = to;
  }

  ticks(count: number): number {
    return this.#known(convertIncrements(count, this.#from.tick, this.#to.tick));
  }

  lots(count: number): number {
    return this.#known(convertIncrements(count, this.#from.lot, this.#to.lot));
  }

  terms({ price, stopPrice, quantity }: Numbers): Numbers {
    return { price: this.ticks(price), stopPrice: this.ticks(stopPrice), quantity: this.lots(quantity) };
  }

  answer(answer: Answer): Answer {
    if (answer.filled === 0) return answer;
    const trades = answer.trades.map((number, index) => (index % 2 === 0 ? this.ticks(number) : this.lots(number)));
    return { ...answer, filled: this.lots(answer.filled), trades };
  }

  #known(count: number | null): number {
    if (count !== null) return count;
    this.isWhole = false;
    return 0;
  }
}

interface Numbers {
  readonly price: number;
  readonly stopPrice: number;
  readonly quantity: number;
}
