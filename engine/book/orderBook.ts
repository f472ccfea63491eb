import { PriceLadder, type PriceLevel } from "./priceLadder.ts";

export type Side = "buy" | "sell";

/** An order that waits in the book. Prices are whole ticks, quantities whole lots. */
export interface RestingOrder {
  /** Sequence number of the record that placed it: unique, and its rank within a price. */
  readonly id: number;
  readonly side: Side;
  readonly price: number;
  /** Ordered quantity; `remaining` is what is not traded yet. */
  readonly quantity: number;
  remaining: number;
  readonly level: PriceLevel;
  previous: RestingOrder | null;
  next: RestingOrder | null;
}

/** One trade of an incoming order against a resting one, at the resting order's price. */
export interface Fill {
  readonly maker: number;
  readonly price: number;
  readonly quantity: number;
}

export interface NewOrder {
  readonly id: number;
  readonly side: Side;
  /** Worst acceptable price in ticks; null takes any price and never rests. */
  readonly limit: number | null;
  readonly quantity: number;
}

export interface Placement {
  readonly fills: readonly Fill[];
  /** Not traded: rests in the book with a limit, is gone without one. */
  readonly remaining: number;
  /** Refused without any effect: the price level cannot hold a sum beyond exact integers. */
  readonly rejected: boolean;
}

export interface DepthLevel {
  readonly price: number;
  readonly quantity: number;
  readonly orders: number;
}

const noFills: readonly Fill[] = [];

/**
 * A limit order book with price-time priority. Deterministic: its state depends on the
 * calls and their order alone, so that every replica reaches the same state.
 */
export class OrderBook {
  readonly #bids = new PriceLadder("buy");
  readonly #asks = new PriceLadder("sell");
  readonly #orders = new Map<number, RestingOrder>();

  get size(): number {
    return this.#orders.size;
  }

  get(id: number): RestingOrder | undefined {
    return this.#orders.get(id);
  }

  /** Matches `order` against the other side, best price and earliest first, then rests what is left of a limit order. */
  place(order: NewOrder): Placement {
    const { limit } = order;
    const own = this.#ladder(order.side);
    if (limit !== null && own.quantityAt(limit) + order.quantity > Number.MAX_SAFE_INTEGER) {
      return { fills: noFills, remaining: order.quantity, rejected: true };
    }
    const fills: Fill[] = [];
    const remaining = this.#match(order, fills);
    if (remaining > 0 && limit !== null) this.#rest(own, order, limit, remaining);
    return { fills: fills.length === 0 ? noFills : fills, remaining, rejected: false };
  }

  /** Takes an order out; undefined when it does not rest here. */
  cancel(id: number): RestingOrder | undefined {
    const order = this.#orders.get(id);
    if (order === undefined) return undefined;
    this.#remove(order);
    return order;
  }

  /** Restores a partly traded order at the end of its price's queue. Used when prices are re-expressed in another tick. */
  restore(order: { id: number; side: Side; price: number; quantity: number; remaining: number }): void {
    this.#rest(this.#ladder(order.side), order, order.price, order.remaining);
  }

  /** The best `limit` levels of a side, best first. */
  depth(side: Side, limit: number): DepthLevel[] {
    return this.#ladder(side).best(limit);
  }

  levelCount(side: Side): number {
    return this.#ladder(side).levelCount;
  }

  bestPrice(side: Side): number | undefined {
    return this.#ladder(side).bestLevel()?.price;
  }

  /** Every resting order: bids, then asks, each by price-time priority. */
  *orders(): Generator<RestingOrder> {
    yield* this.#bids.orders();
    yield* this.#asks.orders();
  }

  #ladder(side: Side): PriceLadder {
    return side === "buy" ? this.#bids : this.#asks;
  }

  #match(order: NewOrder, fills: Fill[]): number {
    const opposite = this.#ladder(order.side === "buy" ? "sell" : "buy");
    let remaining = order.quantity;
    while (remaining > 0) {
      const level = opposite.bestLevel();
      if (level === undefined || !accepts(order, level.price)) break;
      const maker = level.first();
      const quantity = Math.min(remaining, maker.remaining);
      fills.push({ maker: maker.id, price: level.price, quantity });
      remaining -= quantity;
      level.take(maker, quantity);
      if (maker.remaining === 0) this.#remove(maker);
    }
    return remaining;
  }

  #rest(
    ladder: PriceLadder,
    order: { id: number; side: Side; quantity: number },
    price: number,
    remaining: number,
  ): void {
    const level = ladder.levelAt(price);
    const resting: RestingOrder = {
      id: order.id,
      side: order.side,
      price,
      quantity: order.quantity,
      remaining,
      level,
      previous: null,
      next: null,
    };
    level.append(resting);
    this.#orders.set(order.id, resting);
  }

  #remove(order: RestingOrder): void {
    order.level.unlink(order);
    if (order.level.isEmpty) this.#ladder(order.side).drop(order.level);
    this.#orders.delete(order.id);
  }
}

const accepts = (order: NewOrder, price: number): boolean => {
  if (order.limit === null) return true;
  return order.side === "buy" ? price <= order.limit : price >= order.limit;
};
