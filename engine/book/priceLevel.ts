import type { Order } from "./order.ts";

export interface DepthLevel {
  readonly price: number;
  readonly quantity: number;
  readonly orders: number;
}

/** All orders at one price, first in first out, as a doubly linked list: taking any of them out costs the same. */
export class PriceLevel {
  readonly price: number;
  #head: Order | null = null;
  #tail: Order | null = null;
  #quantity = 0;
  #orders = 0;

  constructor(price: number) {
    this.price = price;
  }

  get isEmpty(): boolean {
    return this.#head === null;
  }

  /** Sum of what is open of its orders. */
  get quantity(): number {
    return this.#quantity;
  }

  /** The order with the highest priority. Throws on an empty level, which a ladder never keeps. */
  first(): Order {
    if (this.#head === null) throw new Error(`price level ${this.price} is in the book without an order`);
    return this.#head;
  }

  append(order: Order): void {
    order.level = this;
    order.previous = this.#tail;
    if (this.#tail === null) this.#head = order;
    else this.#tail.next = order;
    this.#tail = order;
    this.#quantity += order.remaining;
    this.#orders += 1;
  }

  /** Takes `quantity` off what is open of `order`, which stays in place. */
  take(order: Order, quantity: number): void {
    order.remaining -= quantity;
    this.#quantity -= quantity;
  }

  unlink(order: Order): void {
    if (order.previous === null) this.#head = order.next;
    else order.previous.next = order.next;
    if (order.next === null) this.#tail = order.previous;
    else order.next.previous = order.previous;
    order.level = null;
    order.previous = null;
    order.next = null;
    this.#quantity -= order.remaining;
    this.#orders -= 1;
  }

  /** Puts `substitute` into the place of `order`. */
  substitute(order: Order, substitute: Order): void {
    const { previous, next } = order;
    substitute.level = this;
    substitute.previous = previous;
    substitute.next = next;
    if (previous === null) this.#head = substitute;
    else previous.next = substitute;
    if (next === null) this.#tail = substitute;
    else next.previous = substitute;
    order.level = null;
    order.previous = null;
    order.next = null;
    this.#quantity += substitute.remaining - order.remaining;
  }

  summary(): DepthLevel {
    return { price: this.price, quantity: this.#quantity, orders: this.#orders };
  }

  *orders(): Generator<Order> {
    for (let order = this.#head; order !== null; order = order.next) yield order;
  }
}
