import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { SlowBook } from "../testing/slowBook.ts";
import { OrderBook, type Side } from "./orderBook.ts";

const buy = (id: number, limit: number | null, quantity: number) => ({ id, side: "buy" as const, limit, quantity });
const sell = (id: number, limit: number | null, quantity: number) => ({ id, side: "sell" as const, limit, quantity });

describe("order book", () => {
  it("rests an order that nothing matches", () => {
    const book = new OrderBook();
    assert.deepEqual(book.place(buy(1, 100, 5)), { fills: [], remaining: 5, rejected: false });
    assert.deepEqual(book.depth("buy", 10), [{ price: 100, quantity: 5, orders: 1 }]);
  });

  it("trades at the resting order's price", () => {
    const book = new OrderBook();
    book.place(sell(1, 100, 5));
    assert.deepEqual(book.place(buy(2, 103, 5)).fills, [{ maker: 1, price: 100, quantity: 5 }]);
    assert.equal(book.size, 0);
  });

  it("takes the best price first and, at one price, the earliest order", () => {
    const book = new OrderBook();
    book.place(sell(1, 102, 1));
    book.place(sell(2, 101, 1));
    book.place(sell(3, 101, 1));
    const { fills } = book.place(buy(4, 102, 3));
    assert.deepEqual(
      fills.map((fill) => fill.maker),
      [2, 3, 1],
    );
  });

  it("leaves a partly traded order its place in the queue", () => {
    const book = new OrderBook();
    book.place(buy(1, 100, 5));
    book.place(buy(2, 100, 5));
    book.place(sell(3, 100, 2));
    assert.deepEqual(book.place(sell(4, 100, 4)).fills, [
      { maker: 1, price: 100, quantity: 3 },
      { maker: 2, price: 100, quantity: 1 },
    ]);
  });

  it("does not rest what a market order could not trade", () => {
    const book = new OrderBook();
    book.place(sell(1, 100, 1));
    assert.equal(book.place(buy(2, null, 3)).remaining, 2);
    assert.equal(book.size, 0);
  });

  it("shows the best levels first, summed up", () => {
    const book = new OrderBook();
    for (const [id, price] of [
      [1, 99],
      [2, 101],
      [3, 100],
      [4, 101],
    ] as const) {
      book.place(buy(id, price, id));
    }
    assert.deepEqual(book.depth("buy", 2), [
      { price: 101, quantity: 6, orders: 2 },
      { price: 100, quantity: 3, orders: 1 },
    ]);
    assert.equal(book.levelCount("buy"), 3);
    assert.equal(book.bestPrice("buy"), 101);
    assert.equal(book.bestPrice("sell"), undefined);
  });

  it("cancels an order once", () => {
    const book = new OrderBook();
    book.place(buy(1, 100, 5));
    assert.equal(book.cancel(1)?.remaining, 5);
    assert.equal(book.cancel(1), undefined);
    assert.deepEqual(book.depth("buy", 1), []);
  });

  it("refuses an order that would make a price's sum inexact, without any effect", () => {
    const book = new OrderBook();
    book.place(buy(1, 100, Number.MAX_SAFE_INTEGER));
    assert.equal(book.place(buy(2, 100, 1)).rejected, true);
    assert.equal(book.place(buy(3, 99, 1)).rejected, false);
    assert.equal(book.size, 2);
  });

  it("sweeps a long queue in time that grows with its length only", () => {
    const book = new OrderBook();
    for (let id = 1; id <= 10_000; id += 1) book.place(sell(id, 100, 1));
    assert.equal(book.place(buy(10_001, 100, 10_000)).fills.length, 10_000);
    assert.equal(book.size, 0);
  });
});

type Step =
  | { readonly kind: "place"; readonly side: Side; readonly limit: number | null; readonly quantity: number }
  | { readonly kind: "cancel"; readonly target: number };

const side = fc.constantFrom<Side>("buy", "sell");
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("place" as const),
      side,
      limit: fc.integer({ min: 95, max: 105 }),
      quantity: fc.integer({ min: 1, max: 20 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("place" as const),
      side,
      limit: fc.constant(null),
      quantity: fc.integer({ min: 1, max: 60 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cancel" as const), target: fc.nat(120) }) },
);

describe("order book against an independent slow model", () => {
  it("gives the same fills, cancellations and book for any sequence of orders", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const book = new OrderBook();
        const model = new SlowBook();
        steps.forEach((next, index) => {
          if (next.kind === "cancel") {
            assert.equal(book.cancel(next.target)?.remaining, model.cancel(next.target));
            return;
          }
          const order = { id: index + 1, side: next.side, limit: next.limit, quantity: next.quantity };
          const { fills, remaining } = book.place(order);
          assert.deepEqual({ fills, remaining }, model.place(order));
        });
        const orders = [...book.orders()].map(({ id, side: own, price, remaining }) => ({
          id,
          side: own,
          price,
          remaining,
        }));
        assert.deepEqual(orders, model.sorted());
        assertConsistent(book);
      }),
      { numRuns: 400 },
    );
  });
});

const assertConsistent = (book: OrderBook): void => {
  const bid = book.bestPrice("buy");
  const ask = book.bestPrice("sell");
  if (bid !== undefined && ask !== undefined) assert.ok(bid < ask, "a book at rest is not crossed");
  for (const own of ["buy", "sell"] as const) {
    for (const level of book.depth(own, 100)) {
      const orders = [...book.orders()].filter((order) => order.side === own && order.price === level.price);
      assert.equal(
        level.quantity,
        orders.reduce((sum, order) => sum + order.remaining, 0),
      );
      assert.equal(level.orders, orders.length);
    }
  }
};
