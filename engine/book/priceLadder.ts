import type { DepthLevel, RestingOrder, Side } from "./orderBook.ts";

/** All orders at one price, first in first out, as a doubly linked list: cancelling any of them costs the same. */
export class PriceLevel {
  readonly price: number;
  #head: RestingOrder | null = null;
  #tail: RestingOrder | null = null;
  #quantity = 0;
  #orders = 0;

  constructor(price: number) {
    this.price = price;
  }

  get isEmpty(): boolean {
    return this.#head === null;
  }

  get quantity(): number {
    return this.#quantity;
  }

  /** The order with the highest priority. Throws on an empty level, which a ladder never keeps. */
  first(): RestingOrder {
    if (this.#head === null) throw new Error(`price level ${this.price} is in the book without an order`);
    return this.#head;
  }

  append(order: RestingOrder): void {
    order.previous = this.#tail;
    if (this.#tail === null) this.#head = order;
    else this.#tail.next = order;
    this.#tail = order;
    this.#quantity += order.remaining;
    this.#orders += 1;
  }

  /** Trades `quantity` of `order`, which stays in place. */
  take(order: RestingOrder, quantity: number): void {
    order.remaining -= quantity;
    this.#quantity -= quantity;
  }

  unlink(order: RestingOrder): void {
    if (order.previous === null) this.#head = order.next;
    else order.previous.next = order.next;
    if (order.next === null) this.#tail = order.previous;
    else order.next.previous = order.previous;
    order.previous = null;
    order.next = null;
    this.#quantity -= order.remaining;
    this.#orders -= 1;
  }

  summary(): DepthLevel {
    return { price: this.price, quantity: this.#quantity, orders: this.#orders };
  }

  *orders(): Generator<RestingOrder> {
    for (let order = this.#head; order !== null; order = order.next) yield order;
  }
}

/** One side of the book: its price levels, the best one at the end of the array, where adding and removing is cheap. */
export class PriceLadder {
  readonly #byPrice = new Map<number, PriceLevel>();
  readonly #worstToBest: PriceLevel[] = [];
  readonly #sign: 1 | -1;

  constructor(side: Side) {
    this.#sign = side === "buy" ? 1 : -1;
  }

  get levelCount(): number {
    return this.#worstToBest.length;
  }

  bestLevel(): PriceLevel | undefined {
    return this.#worstToBest[this.#worstToBest.length - 1];
  }

  quantityAt(price: number): number {
    return this.#byPrice.get(price)?.quantity ?? 0;
  }

  /** The level of `price`, created when it is not there. */
  levelAt(price: number): PriceLevel {
    const existing = this.#byPrice.get(price);
    if (existing !== undefined) return existing;
    const level = new PriceLevel(price);
    this.#byPrice.set(price, level);
    this.#worstToBest.splice(this.#rank(price), 0, level);
    return level;
  }

  drop(level: PriceLevel): void {
    this.#byPrice.delete(level.price);
    if (this.bestLevel() === level) this.#worstToBest.pop();
    else this.#worstToBest.splice(this.#rank(level.price), 1);
  }

  best(limit: number): DepthLevel[] {
    const count = Math.min(limit, this.#worstToBest.length);
    return this.#worstToBest
      .slice(this.#worstToBest.length - count)
      .reverse()
      .map((level) => level.summary());
  }

  *orders(): Generator<RestingOrder> {
    for (const level of this.#worstToBest.toReversed()) yield* level.orders();
  }

  /** Index of the first level that is not worse than `price`. */
  #rank(price: number): number {
    let low = 0;
    let high = this.#worstToBest.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const level = this.#worstToBest[middle];
      if (level !== undefined && (level.price - price) * this.#sign < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
