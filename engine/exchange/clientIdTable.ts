import { Account, type Order } from "../book/order.ts";
import type { Position } from "../journal/record.ts";

/**
 * More than the one that a record makes final on average, so that the table gets shorter after a sweep; and few, so
 * that no record has to pay for all of it.
 */
const mostForgottenPerRecord = 8;

/**
 * Every order by account and client id: the open ones, and those that became final in the last records. That is
 * how a command that comes again is known, and how an order is found.
 */
export class ClientIdTable {
  readonly #accounts = new Map<string, Account>();
  /** The final ones as a list, the earliest first: linked by `next`. */
  #firstFinal: Order | null = null;
  #lastFinal: Order | null = null;
  #size = 0;

  /** Orders that are known. */
  get size(): number {
    return this.#size;
  }

  find(account: string, clientId: string): Order | undefined {
    return this.#accounts.get(account)?.orders.get(clientId);
  }

  /** The account of this name; it is kept only while the table has an order of it. */
  account(name: string): Account {
    return this.#accounts.get(name) ?? new Account(name);
  }

  add(order: Order): void {
    const { account } = order;
    if (account.orders.size === 0) this.#accounts.set(account.name, account);
    account.orders.set(order.clientId, order);
    this.#size += 1;
  }

  /** Notes that `order` is final since `position`. One that was refused before it got into the table stays out of it. */
  finish(order: Order, position: Position): void {
    if (order.status === "rejected" && order.account.orders.get(order.clientId) !== order) return;
    order.finalEpoch = position.epoch;
    order.finalSeq = position.seq;
    order.next = null;
    if (this.#lastFinal === null) this.#firstFinal = order;
    else this.#lastFinal.next = order;
    this.#lastFinal = order;
  }

  /** Forgets orders that became final before record `seq`, a few at a time. */
  forgetBefore(seq: number): void {
    for (let count = 0; count < mostForgottenPerRecord; count += 1) {
      const order = this.#firstFinal;
      if (order === null || order.finalSeq >= seq) return;
      this.#firstFinal = order.next;
      if (order.next === null) this.#lastFinal = null;
      order.next = null;
      this.#remove(order);
    }
  }

  /** The final orders that are known, in the order in which they became so. */
  *finals(): Generator<Order> {
    for (let order = this.#firstFinal; order !== null; order = order.next) yield order;
  }

  #remove({ account, clientId }: Order): void {
    account.orders.delete(clientId);
    if (account.orders.size === 0) this.#accounts.delete(account.name);
    this.#size -= 1;
  }
}
