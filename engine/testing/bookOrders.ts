import { Effect } from "../book/effect.ts";
import { Account, Order } from "../book/order.ts";
import type { OrderBook } from "../book/orderBook.ts";
import { tradingRules } from "../exchange/tradingRules.ts";
import type { PlaceOrder } from "../journal/record.ts";
import { limitOrder } from "./records.ts";

const rules = tradingRules("BTC/USDT", "0.01", "0.00001");
const nobody = new Account("");

/** A new order outside any exchange, with the id `seq`. */
export const newOrder = (seq: number, terms: Partial<PlaceOrder>, account = nobody): Order => {
  const request = limitOrder(`c${seq}`, terms);
  return new Order({ epoch: 1, seq }, account, request, request, rules);
};

/** Places a new order and answers it with all that happened. */
export const place = (book: OrderBook, seq: number, terms: Partial<PlaceOrder>, account = nobody) => {
  const order = newOrder(seq, terms, account);
  const effect = new Effect();
  book.place(order, effect);
  return { order, effect };
};

/** Maker, taker, price and quantity of each trade. */
export const tradesIn = (effect: Effect): number[][] =>
  effect.trades.map(({ maker, taker, price, quantity }) => [maker.seq, taker.seq, price, quantity]);

/** Id, status and reason of each order that became final. */
export const endedIn = (effect: Effect) => effect.ended.map(({ seq, status, reason }) => [seq, status, reason]);
