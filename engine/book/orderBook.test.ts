import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { endedIn, newOrder, place, tradesIn } from "../testing/bookOrders.ts";
import { Effect } from "./effect.ts";
import { Account, type Order } from "./order.ts";
import { OrderBook } from "./orderBook.ts";
import { selfTradePreventions } from "./terms.ts";

const buy = (price: number, quantity: number) => ({ side: "buy", price, quantity }) as const;
const sell = (price: number, quantity: number) => ({ side: "sell", price, quantity }) as const;
const market = (side: "buy" | "sell", quantity: number) => ({ side, type: "market", price: 0, quantity }) as const;
const now = ({ status, reason, remaining, filled }: Order) => ({ status, reason, remaining, filled });

describe("a limit order", () => {
  it("rests when nothing matches it", () => {
    const book = new OrderBook();
    const { order, effect } = place(book, 1, buy(100, 5));
    assert.equal(order.status, "resting");
    assert.deepEqual(effect.rested, [order]);
    assert.deepEqual(book.depth("buy", 10), [{ price: 100, quantity: 5, orders: 1 }]);
  });

  it("trades at the resting order's price", () => {
    const book = new OrderBook();
    place(book, 1, sell(100, 5));
    const { effect } = place(book, 2, buy(103, 5));
    assert.deepEqual(tradesIn(effect), [[1, 2, 100, 5]]);
    assert.deepEqual(endedIn(effect), [
      [1, "filled", null],
      [2, "filled", null],
    ]);
    assert.equal(book.size, 0);
  });

  it("takes the best price first and, at one price, the earliest order", () => {
    const book = new OrderBook();
    place(book, 1, sell(102, 1));
    place(book, 2, sell(101, 1));
    place(book, 3, sell(101, 1));
    const { effect } = place(book, 4, buy(102, 3));
    assert.deepEqual(
      tradesIn(effect).map(([maker]) => maker),
      [2, 3, 1],
    );
  });

  it("keeps its place in the queue when it has traded in part", () => {
    const book = new OrderBook();
    place(book, 1, buy(100, 5));
    place(book, 2, buy(100, 5));
    place(book, 3, sell(100, 2));
    const { effect } = place(book, 4, sell(100, 4));
    assert.deepEqual(tradesIn(effect), [
      [1, 4, 100, 3],
      [2, 4, 100, 1],
    ]);
  });

  it("is refused, without any effect, when its price's sum would be inexact", () => {
    const book = new OrderBook();
    place(book, 1, buy(100, Number.MAX_SAFE_INTEGER));
    assert.deepEqual(endedIn(place(book, 2, buy(100, 1)).effect), [[2, "rejected", "LEVEL_OVERFLOW"]]);
    assert.equal(place(book, 3, buy(99, 1)).order.status, "resting");
    assert.equal(book.size, 2);
  });

  it("answers what was so before stops traded with it", () => {
    const book = new OrderBook();
    place(book, 1, sell(100, 1));
    place(book, 2, { side: "sell", type: "stop", price: 0, stopPrice: 100, quantity: 2 });
    const { order, effect } = place(book, 3, buy(100, 3));
    assert.deepEqual(order.answer, { status: "partiallyFilled", reason: null, filled: 1, trades: [100, 1] });
    assert.deepEqual(tradesIn(effect), [
      [1, 3, 100, 1],
      [3, 2, 100, 2],
    ]);
    assert.deepEqual(now(order), { status: "filled", reason: null, remaining: 0, filled: 3 });
  });

  it("of a queue of 10,000 is swept in one go", () => {
    const book = new OrderBook();
    for (let seq = 1; seq <= 10_000; seq += 1) place(book, seq, sell(100, 1));
    assert.equal(place(book, 10_001, buy(100, 10_000)).effect.trades.length, 10_000);
    assert.equal(book.size, 0);
  });
});

describe("times in force", () => {
  const withAsks = () => {
    const book = new OrderBook();
    place(book, 1, sell(100, 2));
    place(book, 2, sell(101, 2));
    return book;
  };

  it("a market order takes what there is, and nothing of it rests", () => {
    const book = withAsks();
    const { order } = place(book, 3, market("buy", 5));
    assert.deepEqual(now(order), { status: "cancelled", reason: "NO_LIQUIDITY", remaining: 0, filled: 4 });
    assert.equal(book.size, 0);
  });

  it("an immediate-or-cancel order trades within its limit", () => {
    const { order } = place(withAsks(), 3, { ...buy(100, 5), timeInForce: "ioc" });
    assert.deepEqual(now(order), { status: "cancelled", reason: "IMMEDIATE_OR_CANCEL", remaining: 0, filled: 2 });
  });

  it("a fill-or-kill order trades as a whole", () => {
    const { effect } = place(withAsks(), 3, { ...buy(101, 4), timeInForce: "fok" });
    assert.equal(effect.trades.length, 2);
  });

  it("a fill-or-kill order that cannot trade as a whole does nothing", () => {
    const book = withAsks();
    for (const terms of [buy(101, 5), buy(100, 3), market("buy", 5)]) {
      const { effect } = place(book, 3, { ...terms, timeInForce: "fok" });
      assert.deepEqual(endedIn(effect), [[3, "cancelled", "FILL_OR_KILL"]]);
      assert.equal(effect.trades.length, 0);
    }
    assert.equal(book.size, 2);
  });

  it("a post-only order rests or is refused, and never trades at once", () => {
    const book = withAsks();
    assert.deepEqual(endedIn(place(book, 3, { ...buy(100, 1), postOnly: true }).effect), [
      [3, "rejected", "WOULD_CROSS"],
    ]);
    assert.equal(place(book, 4, { ...buy(99, 1), postOnly: true }).order.status, "resting");
  });
});

describe("self-trade prevention", () => {
  /** Own and foreign asks at one price, the own one first; then an own bid for 5. */
  const meet = (selfTrade: (typeof selfTradePreventions)[number], timeInForce: "gtc" | "fok" = "gtc") => {
    const book = new OrderBook();
    const mine = new Account("mine");
    const maker = place(book, 1, sell(100, 2), mine).order;
    place(book, 2, sell(100, 9), new Account("other"));
    const { order, effect } = place(book, 3, { ...buy(100, 5), selfTrade, timeInForce }, mine);
    return { maker, order, effect };
  };

  it("cancels the newer order", () => {
    const { maker, order, effect } = meet("cancelNewest");
    assert.deepEqual(now(order), { status: "cancelled", reason: "SELF_TRADE", remaining: 0, filled: 0 });
    assert.equal(maker.status, "resting");
    assert.equal(effect.trades.length, 0);
  });

  it("cancels the older order and goes on", () => {
    const { maker, order, effect } = meet("cancelOldest");
    assert.deepEqual(now(maker), { status: "cancelled", reason: "SELF_TRADE", remaining: 0, filled: 0 });
    assert.equal(order.status, "filled");
    assert.deepEqual(tradesIn(effect), [[2, 3, 100, 5]]);
  });

  it("cancels both", () => {
    const { maker, order } = meet("cancelBoth");
    assert.deepEqual([maker.status, order.status], ["cancelled", "cancelled"]);
  });

  it("takes the smaller quantity off both, cancels the smaller order and goes on with the other", () => {
    const { maker, order, effect } = meet("decrementBoth");
    assert.deepEqual([maker.status, maker.filled], ["cancelled", 0]);
    assert.deepEqual(now(order), { status: "filled", reason: null, remaining: 0, filled: 3 });
    assert.deepEqual(effect.reduced, [order]);
    assert.deepEqual(tradesIn(effect), [[2, 3, 100, 3]]);
  });

  it("never lets a fill-or-kill order trade in part, nor cancel anything when it is killed", () => {
    for (const mode of selfTradePreventions) {
      const { maker, order } = meet(mode, "fok");
      const gotPast = mode === "cancelOldest";
      assert.deepEqual([order.status, order.filled], gotPast ? ["filled", 5] : ["cancelled", 0], mode);
      assert.equal(maker.isOpen, !gotPast);
    }
  });

  it("does not keep orders of nobody in particular apart", () => {
    const book = new OrderBook();
    place(book, 1, sell(100, 2));
    assert.equal(place(book, 2, buy(100, 2)).order.status, "filled");
  });
});

describe("stop orders", () => {
  const stop = (side: "buy" | "sell", stopPrice: number, quantity = 1) =>
    ({ side, type: "stop", price: 0, stopPrice, quantity }) as const;
  /** A book with the last trade at 100 and much to trade with on both sides. */
  const traded = () => {
    const book = new OrderBook();
    place(book, 1, sell(100, 1));
    place(book, 2, buy(100, 1));
    for (let price = 101; price <= 110; price += 1) place(book, price, sell(price, 1));
    for (let price = 99; price >= 90; price -= 1) place(book, price, buy(price, 1));
    return book;
  };

  it("wait outside the book until a trade reaches their price", () => {
    const book = traded();
    const { order } = place(book, 200, stop("buy", 102));
    assert.equal(order.answer.status, "untriggered");
    assert.equal(book.stopCount, 1);
    assert.deepEqual(tradesIn(place(book, 201, market("buy", 1)).effect), [[101, 201, 101, 1]]);
    const { effect } = place(book, 202, market("buy", 1));
    assert.deepEqual(effect.triggered, [order]);
    assert.deepEqual(tradesIn(effect), [
      [102, 202, 102, 1],
      [103, 200, 103, 1],
    ]);
    assert.equal(book.stopCount, 0);
  });

  it("do not wait when the last trade has reached their price already", () => {
    const book = traded();
    const { order, effect } = place(book, 200, stop("sell", 100));
    assert.equal(order.status, "filled");
    assert.deepEqual(effect.triggered, []);
  });

  it("wait for the first trade of all", () => {
    assert.equal(place(new OrderBook(), 1, stop("sell", 100)).order.status, "untriggered");
  });

  it("trigger by rising price on the way up, at one price by arrival, and set off others", () => {
    const book = traded();
    for (const [seq, price] of [
      [200, 103],
      [201, 101],
      [202, 101],
      [203, 105],
    ] as const) {
      place(book, seq, stop("buy", price));
    }
    const { effect } = place(book, 300, market("buy", 1));
    assert.deepEqual(
      effect.triggered.map(({ seq }) => seq),
      [201, 202, 200],
    );
    assert.equal(book.lastPrice, 104);
    assert.equal(book.stopCount, 1, "105 was not reached");
  });

  it("trigger by the first trade of a sweep too, not by the last alone", () => {
    const book = traded();
    place(book, 200, market("buy", 3));
    assert.equal(book.lastPrice, 103);
    place(book, 201, sell(101, 1));
    place(book, 202, stop("sell", 101));
    const { effect } = place(book, 203, market("buy", 2));
    assert.deepEqual(
      effect.trades.slice(0, 2).map(({ price }) => price),
      [101, 104],
    );
    assert.deepEqual(
      effect.triggered.map(({ seq }) => seq),
      [202],
    );
  });

  it("become limit orders with their own priority, when they have a limit", () => {
    const book = traded();
    const { order } = place(book, 200, { ...stop("buy", 101, 5), type: "stopLimit", price: 101 });
    place(book, 201, buy(101, 1));
    place(book, 202, buy(101, 1));
    assert.deepEqual(now(order), { status: "resting", reason: null, remaining: 5, filled: 0 });
    const { effect } = place(book, 203, sell(101, 6));
    assert.deepEqual(
      tradesIn(effect).map(([maker]) => maker),
      [200, 202],
    );
  });

  it("are taken out by a cancellation", () => {
    const book = traded();
    const { order } = place(book, 200, stop("buy", 102));
    book.cancel(order, "REQUESTED", new Effect());
    assert.deepEqual([book.stopCount, order.reason], [0, "REQUESTED"]);
  });
});

describe("a replacement", () => {
  const replacing = (quantities: { readonly price?: number; readonly remaining: number }) => {
    const book = new OrderBook();
    const first = place(book, 1, buy(100, 5)).order;
    place(book, 2, buy(100, 5));
    const order = newOrder(3, buy(quantities.price ?? 100, quantities.remaining));
    const effect = new Effect();
    book.replace(first, order, effect);
    return { book, first, order, effect };
  };
  const queue = (book: OrderBook) => [...book.orders()].map(({ seq }) => seq);

  it("keeps its turn when it asks for less", () => {
    const { book, first, effect } = replacing({ remaining: 3 });
    assert.deepEqual(queue(book), [3, 2]);
    assert.deepEqual(endedIn(effect), [[1, "cancelled", "REPLACED"]]);
    assert.equal(first.remaining, 0);
    assert.deepEqual(book.depth("buy", 9), [{ price: 100, quantity: 8, orders: 2 }]);
  });

  it("goes to the end of the queue when it asks for more", () => {
    assert.deepEqual(queue(replacing({ remaining: 6 }).book), [2, 3]);
  });

  it("at another price comes as a new order does", () => {
    assert.deepEqual(queue(replacing({ price: 101, remaining: 1 }).book), [3, 2]);
    assert.deepEqual(queue(replacing({ price: 99, remaining: 1 }).book), [2, 3]);
  });

  it("that is refused leaves the order as it is", () => {
    const book = new OrderBook();
    const first = place(book, 1, { ...buy(99, 5), postOnly: true }).order;
    place(book, 2, sell(100, 5));
    const effect = new Effect();
    book.replace(first, newOrder(3, { ...buy(100, 5), postOnly: true }), effect);
    assert.deepEqual(endedIn(effect), [[3, "rejected", "WOULD_CROSS"]]);
    assert.equal(first.status, "resting");
    assert.deepEqual(book.depth("buy", 1), [{ price: 99, quantity: 5, orders: 1 }]);
  });
});
