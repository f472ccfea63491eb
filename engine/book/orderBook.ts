import { type Effect, tradesOf } from "./effect.ts";
import { end, refuse } from "./ending.ts";
import { isFillable } from "./fillOrKill.ts";
import { accepts } from "./limit.ts";
import { isOwn, type Order } from "./order.ts";
import { PriceLadder } from "./priceLadder.ts";
import type { DepthLevel, PriceLevel } from "./priceLevel.ts";
import { isReached, StopBook } from "./stopBook.ts";
import { hasLimit, type Reason, type Side } from "./terms.ts";

/**
 * The order book of one trading pair, with price-time priority, and the stop orders that wait beside it. Deterministic: its
 * state depends on the calls and their order alone, so that every replica reaches the same state.
 */
export class OrderBook {
  readonly #bids = new PriceLadder("highest");
  readonly #asks = new PriceLadder("lowest");
  readonly #stops = new StopBook();
  #lastPrice: number | null;
  #size = 0;

  constructor(lastPrice: number | null = null) {
    this.#lastPrice = lastPrice;
  }

  /** Number of resting orders. */
  get size(): number {
    return this.#size;
  }

  /** Number of stop orders that wait. */
  get stopCount(): number {
    return this.#stops.size;
  }

  /** Price of the last trade; null before the first. */
  get lastPrice(): number | null {
    return this.#lastPrice;
  }

  /**
   * Takes in a new order: it is refused, waits for its stop price, or trades as far as its terms allow and rests with what is
   * left. Then come the stops that its trades trigger, one by one, and those that theirs trigger: each leaves
   * the stop book for good, so that the cascade ends.
   */
  place(order: Order, effect: Effect): void {
    const refusal = this.#refusalOf(order, null);
    if (refusal === null) this.#enter(order, effect);
    else refuse(order, refusal, effect);
  }

  /**
   * Puts `order` in the place of the open order `target`. It keeps that place when only the open quantity gets smaller, and
   * else comes as a new order does. When it is refused, `target` stays as it is.
   */
  replace(target: Order, order: Order, effect: Effect): void {
    if (keepsPlace(target, order)) {
      order.status = target.status;
      target.level?.substitute(target, order);
      end(target, "cancelled", "REPLACED", effect);
      order.giveAnswer();
      if (order.status !== "untriggered") effect.addRested(order);
      return;
    }
    const refusal = this.#refusalOf(order, target);
    if (refusal !== null) {
      refuse(order, refusal, effect);
      return;
    }
    this.cancel(target, "REPLACED", effect);
    this.#enter(order, effect);
  }

  /** Takes an open order out. */
  cancel(order: Order, reason: Reason, effect: Effect): void {
    if (order.status === "untriggered") this.#stops.remove(order);
    else this.#remove(order);
    end(order, "cancelled", reason, effect);
  }

  /** Puts back an open order, behind those that are there. False when the sum of its price would be inexact. */
  restore(order: Order): boolean {
    if (this.#overflows(order, null)) return false;
    if (order.status === "untriggered") this.#stops.add(order);
    else this.#append(order);
    return true;
  }

  /** The best `limit` levels of a side, best first. */
  depth(side: Side, limit: number): DepthLevel[] {
    return this.#ladder(side).depth(limit);
  }

  levelCount(side: Side): number {
    return this.#ladder(side).levelCount;
  }

  /** The level of `price`, summed up; undefined when no order rests there. */
  level(side: Side, price: number): DepthLevel | undefined {
    return this.#ladder(side).find(price)?.summary();
  }

  bestPrice(side: Side): number | undefined {
    return this.#ladder(side).bestLevel()?.price;
  }

  /** Every resting order: bids, then asks, each by price-time priority. */
  *orders(): Generator<Order> {
    yield* this.#bids.orders();
    yield* this.#asks.orders();
  }

  /** Every stop order that waits: buys, then sells, each in the order in which they would be triggered. */
  stops(): Generator<Order> {
    return this.#stops.orders();
  }

  #refusalOf(order: Order, target: Order | null): Reason | null {
    const { terms } = order;
    if (terms.postOnly && this.#crosses(order)) return "WOULD_CROSS";
    return this.#overflows(order, target) ? "LEVEL_OVERFLOW" : null;
  }

  #crosses({ terms }: Order): boolean {
    const best = this.#opposite(terms.side).bestLevel();
    return best !== undefined && accepts(terms, best.price);
  }

  /** Whether a level's sum would be beyond exact integers with `order` in it, in the place of `target`. */
  #overflows({ terms, status, remaining }: Order, target: Order | null): boolean {
    if (status === "untriggered" && exceeds(this.#stops.find(terms.side, terms.stopPrice), remaining, target))
      return true;
    return hasLimit(terms.type) && exceeds(this.#ladder(terms.side).find(terms.price), remaining, target);
  }

  #enter(order: Order, effect: Effect): void {
    if (order.status === "untriggered" && !this.#isTriggered(order)) {
      this.#stops.add(order);
      order.giveAnswer();
      return;
    }
    this.#execute(order, effect);
    const { trades } = effect;
    order.giveAnswer(tradesOf(order, trades));
    if (trades.length > 0 && this.#stops.size > 0) this.#runStops(effect);
  }

  #isTriggered({ terms }: Order): boolean {
    return this.#lastPrice !== null && isReached(terms, this.#lastPrice);
  }

  #runStops(effect: Effect): void {
    const queue: Order[] = [];
    let seen = 0;
    for (let at = 0; ; at += 1) {
      const { trades } = effect;
      const [first, last] = [trades[seen], trades[trades.length - 1]];
      // One order's trades go only one way: the first and the last of them have the extreme prices.
      if (first !== undefined && last !== undefined) {
        this.#stops.takeReached(Math.min(first.price, last.price), Math.max(first.price, last.price), queue);
      }
      seen = trades.length;
      const next = queue[at];
      if (next === undefined) return;
      effect.addTriggered(next);
      this.#execute(next, effect);
    }
  }

  #execute(order: Order, effect: Effect): void {
    const { terms } = order;
    order.status = "resting";
    if (terms.timeInForce === "fok" && !isFillable(order, this.#opposite(terms.side))) {
      end(order, "cancelled", "FILL_OR_KILL", effect);
      return;
    }
    this.#match(order, effect);
    if (order.remaining === 0) return;
    if (!hasLimit(terms.type)) end(order, "cancelled", "NO_LIQUIDITY", effect);
    else if (terms.timeInForce !== "gtc") end(order, "cancelled", "IMMEDIATE_OR_CANCEL", effect);
    // A new order was checked before it traded. A stop that waited meets a level that has grown meanwhile.
    else if (this.#overflows(order, null)) end(order, "cancelled", "LEVEL_OVERFLOW", effect);
    else this.#rest(order, effect);
  }

  #match(order: Order, effect: Effect): void {
    const opposite = this.#opposite(order.terms.side);
    while (order.remaining > 0) {
      const level = opposite.bestLevel();
      if (level === undefined || !accepts(order.terms, level.price)) return;
      const maker = level.first();
      if (isOwn(maker, order)) this.#preventSelfTrade(maker, order, level, effect);
      else this.#trade(maker, order, level, effect);
    }
  }

  #trade(maker: Order, taker: Order, level: PriceLevel, effect: Effect): void {
    const quantity = Math.min(taker.remaining, maker.remaining);
    effect.addTrade(maker, taker, level.price, quantity);
    this.#lastPrice = level.price;
    level.take(maker, quantity);
    maker.filled += quantity;
    taker.remaining -= quantity;
    taker.filled += quantity;
    if (maker.remaining > 0) {
      maker.status = "partiallyFilled";
    } else {
      this.#remove(maker);
      end(maker, "filled", null, effect);
    }
    if (taker.remaining === 0) end(taker, "filled", null, effect);
  }

  #preventSelfTrade(maker: Order, taker: Order, level: PriceLevel, effect: Effect): void {
    switch (taker.terms.selfTrade) {
      case "cancelNewest":
        end(taker, "cancelled", "SELF_TRADE", effect);
        return;
      case "cancelOldest":
        this.cancel(maker, "SELF_TRADE", effect);
        return;
      case "cancelBoth":
        this.cancel(maker, "SELF_TRADE", effect);
        end(taker, "cancelled", "SELF_TRADE", effect);
        return;
      case "decrementBoth": {
        const quantity = Math.min(maker.remaining, taker.remaining);
        level.take(maker, quantity);
        taker.remaining -= quantity;
        if (maker.remaining > 0) effect.addReduced(maker);
        else this.cancel(maker, "SELF_TRADE", effect);
        if (taker.remaining > 0) effect.addReduced(taker);
        else end(taker, "cancelled", "SELF_TRADE", effect);
      }
    }
  }

  #rest(order: Order, effect: Effect): void {
    order.status = order.filled > 0 ? "partiallyFilled" : "resting";
    this.#append(order);
    effect.addRested(order);
  }

  #append(order: Order): void {
    this.#ladder(order.terms.side).levelAt(order.terms.price).append(order);
    this.#size += 1;
  }

  #remove(order: Order): void {
    const { level } = order;
    if (level === null) throw new Error(`order ${order.seq} does not rest in the book`);
    level.unlink(order);
    if (level.isEmpty) this.#ladder(order.terms.side).drop(level);
    this.#size -= 1;
  }

  #ladder(side: Side): PriceLadder {
    return side === "buy" ? this.#bids : this.#asks;
  }

  #opposite(side: Side): PriceLadder {
    return side === "buy" ? this.#asks : this.#bids;
  }
}

const exceeds = (level: PriceLevel | undefined, added: number, target: Order | null): boolean => {
  if (level === undefined) return false;
  const freed = target?.level === level ? target.remaining : 0;
  return level.quantity - freed > Number.MAX_SAFE_INTEGER - added;
};

/** A smaller quantity takes nobody's turn; another price, or more, does. */
const keepsPlace = (target: Order, order: Order): boolean =>
  order.terms.price === target.terms.price &&
  (order.status !== "untriggered" || order.terms.stopPrice === target.terms.stopPrice) &&
  order.remaining <= target.remaining;
