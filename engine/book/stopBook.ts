import type { Order } from "./order.ts";
import { PriceLadder } from "./priceLadder.ts";
import type { PriceLevel } from "./priceLevel.ts";
import type { OrderTerms, Side } from "./terms.ts";

/** Whether a trade at `price` triggers a stop order with these terms. */
export const isReached = ({ side, stopPrice }: OrderTerms, price: number): boolean =>
  side === "buy" ? price >= stopPrice : price <= stopPrice;

/** Stop orders that wait for a trade at their stop price or beyond. */
export class StopBook {
  /** Rising prices reach the lowest buy stop first, falling ones the highest sell stop. */
  readonly #buys = new PriceLadder("lowest");
  readonly #sells = new PriceLadder("highest");
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Those that wait for `stopPrice`. */
  find(side: Side, stopPrice: number): PriceLevel | undefined {
    return this.#ladder(side).find(stopPrice);
  }

  add(order: Order): void {
    this.#ladder(order.terms.side).levelAt(order.terms.stopPrice).append(order);
    this.#size += 1;
  }

  remove(order: Order): void {
    const { level } = order;
    if (level === null) throw new Error(`order ${order.seq} does not wait for a stop price`);
    level.unlink(order);
    if (level.isEmpty) this.#ladder(order.terms.side).drop(level);
    this.#size -= 1;
  }

  /**
   * Moves to `queue` what trades between the prices `low` and `high` trigger: buy orders by rising stop price, then sell
   * orders by falling stop price, and at one price the earliest first.
   */
  takeReached(low: number, high: number, queue: Order[]): void {
    this.#takeFrom(this.#buys, high, queue);
    this.#takeFrom(this.#sells, low, queue);
  }

  /** Buy orders, then sell orders, each in the order they would trigger. */
  *orders(): Generator<Order> {
    yield* this.#buys.orders();
    yield* this.#sells.orders();
  }

  #takeFrom(ladder: PriceLadder, price: number, queue: Order[]): void {
    for (let level = ladder.bestLevel(); level !== undefined; level = ladder.bestLevel()) {
      const order = level.first();
      if (!isReached(order.terms, price)) return;
      this.remove(order);
      queue.push(order);
    }
  }

  #ladder(side: Side): PriceLadder {
    return side === "buy" ? this.#buys : this.#sells;
  }
}
