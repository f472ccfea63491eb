import type { Side } from "../book/terms.ts";

export interface SlowRequest {
  readonly id: number;
  readonly side: Side;
  /** Worst acceptable price; null takes any price and never rests. */
  readonly limit: number | null;
  readonly quantity: number;
}

export interface SlowOrder {
  readonly id: number;
  readonly side: Side;
  readonly price: number;
  remaining: number;
}

/**
 * The order book as one unsorted list, written from the rule alone: of all orders on the other side that
 * the limit accepts, the best price comes first, and at one price the lowest id.
 */
export class SlowBook {
  orders: SlowOrder[] = [];

  place({ id, side, limit, quantity }: SlowRequest): { fills: object[]; remaining: number } {
    const fills: object[] = [];
    let remaining = quantity;
    while (remaining > 0) {
      const maker = this.#bestAgainst(side, limit);
      if (maker === undefined) break;
      const traded = Math.min(maker.remaining, remaining);
      fills.push({ maker: maker.id, price: maker.price, quantity: traded });
      maker.remaining -= traded;
      remaining -= traded;
      this.orders = this.orders.filter((order) => order.remaining > 0);
    }
    if (remaining > 0 && limit !== null) this.orders.push({ id, side, price: limit, remaining });
    return { fills, remaining };
  }

  cancel(id: number): number | undefined {
    const found = this.orders.find((order) => order.id === id);
    this.orders = this.orders.filter((order) => order !== found);
    return found?.remaining;
  }

  /** Bids, then asks, each by priority. */
  sorted(): SlowOrder[] {
    const side = (wanted: Side, sign: number): SlowOrder[] =>
      this.orders.filter((order) => order.side === wanted).sort((a, b) => (a.price - b.price) * sign || a.id - b.id);
    return [...side("buy", -1), ...side("sell", 1)];
  }

  #bestAgainst(side: Side, limit: number | null): SlowOrder | undefined {
    const sign = side === "buy" ? 1 : -1;
    return this.orders
      .filter((order) => order.side !== side && (limit === null || (limit - order.price) * sign >= 0))
      .sort((a, b) => (a.price - b.price) * sign || a.id - b.id)[0];
  }
}
