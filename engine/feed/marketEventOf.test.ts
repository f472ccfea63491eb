import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { Exchange } from "../exchange/exchange.ts";
import type { Command } from "../journal/record.ts";
import { epochStart, limitOrder, record } from "../testing/records.ts";
import type { MarketEvent } from "./marketBatch.ts";
import { MarketBatchWriter, readMarketBatch } from "./marketBatch.ts";
import { marketEventOf } from "./marketEventOf.ts";

/** An exchange that has begun, and what each further command does to its market. */
const market = () => {
  const exchange = new Exchange();
  exchange.apply(epochStart(1, 1));
  const apply = (command: Command): MarketEvent | null => {
    const next = record(1, exchange.appliedSeq + 1, command);
    const { effect } = exchange.apply(next);
    return marketEventOf(next, effect, exchange.book);
  };
  return { exchange, apply };
};

describe("what a record does to the market", () => {
  it("is the level that an order rests at", () => {
    const { apply } = market();
    assert.deepEqual(apply(limitOrder("one", { price: 100, quantity: 5 })), {
      seq: 2,
      epoch: 1,
      bestBid: 100,
      bestAsk: 0,
      trades: [],
      levels: [{ side: "buy", price: 100, quantity: 5, orders: 1 }],
    });
  });

  it("is its trades, and both the levels taken and the rest of the order", () => {
    const { apply } = market();
    apply(limitOrder("a", { side: "sell", price: 100, quantity: 1 }));
    apply(limitOrder("b", { side: "sell", price: 100, quantity: 2 }));
    const event = apply(limitOrder("c", { price: 101, quantity: 5 }));
    assert.deepEqual(event?.trades, [
      { price: 100, quantity: 1, side: "buy" },
      { price: 100, quantity: 2, side: "buy" },
    ]);
    assert.deepEqual(event.levels, [
      { side: "buy", price: 101, quantity: 2, orders: 1 },
      { side: "sell", price: 100, quantity: 0, orders: 0 },
    ]);
  });

  it("is nothing for an order that does not get into the book", () => {
    const { apply } = market();
    assert.equal(apply(limitOrder("one", { type: "market", price: 0 })), null);
    assert.equal(apply({ kind: "cancel", account: "", clientId: "nothing" }), null);
    apply(limitOrder("bid", { price: 5 }));
    assert.equal(apply(limitOrder("post", { side: "sell", price: 5, postOnly: true })), null);
  });

  it("is the level that a cancelled order leaves", () => {
    const { apply } = market();
    apply(limitOrder("one", { price: 100, quantity: 5 }));
    const event = apply({ kind: "cancel", account: "", clientId: "one" });
    assert.deepEqual(event?.levels, [{ side: "buy", price: 100, quantity: 0, orders: 0 }]);
  });

  it("adds up to the book, whatever was ordered", () => {
    const order = fc.record({
      side: fc.constantFrom("buy", "sell"),
      price: fc.integer({ min: 1, max: 40 }),
      quantity: fc.integer({ min: 1, max: 50 }),
      cancels: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(order, { maxLength: 150 }), (orders) => {
        const { exchange, apply } = market();
        const levels = new Map<string, unknown>();
        const writer = new MarketBatchWriter();
        for (const [index, { side, price, quantity, cancels }] of orders.entries()) {
          const event = cancels
            ? apply({ kind: "cancel", account: "", clientId: `o-${index - 2}` })
            : apply(limitOrder(`o-${index}`, { side, price, quantity }));
          if (event !== null) writer.add(event);
        }
        for (const event of readMarketBatch(writer.take())) {
          for (const level of event.levels) {
            if (level.orders === 0) levels.delete(`${level.side} ${level.price}`);
            else levels.set(`${level.side} ${level.price}`, [level.price, level.quantity, level.orders]);
          }
        }
        const book = (["buy", "sell"] as const).flatMap((side) =>
          exchange.book.depth(side, 100).map((level) => [level.price, level.quantity, level.orders]),
        );
        assert.deepEqual(new Set([...levels.values()].map(String)), new Set(book.map(String)));
      }),
      { numRuns: 50 },
    );
  });
});
