import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import type { Order } from "../book/order.ts";
import type { Command, JournalRecord } from "../journal/record.ts";
import { randomCommands } from "../testing/randomCommands.ts";
import { cancelOf, epochStart, limitOrder, record, replaceOf } from "../testing/records.ts";
import { Exchange } from "./exchange.ts";
import { isSameRequest } from "./sameRequest.ts";
import { tradingRules } from "./tradingRules.ts";

/** An exchange that has applied an epoch start and `commands`, with the effect of the last one. */
const applied = (...commands: readonly Command[]) => {
  const exchange = new Exchange();
  let effect = exchange.apply(epochStart(1, 1));
  commands.forEach((command, index) => {
    effect = exchange.apply(record(1, index + 2, command));
  });
  return { exchange, effect };
};

const orderOf = (exchange: Exchange, clientId: string, account = ""): Order => {
  const order = exchange.orderOf(clientId, account);
  assert.ok(order !== undefined);
  return order;
};

describe("the exchange", () => {
  it("says what became of each kind of order", () => {
    const { exchange } = applied(
      limitOrder("resting", { side: "sell", quantity: 5 }),
      limitOrder("filled", { quantity: 2 }),
      limitOrder("partly", { quantity: 4 }),
      limitOrder("swept", { side: "sell", type: "market", price: 0, quantity: 9 }),
      limitOrder("nothing-there", { type: "market", price: 0, quantity: 1 }),
    );
    const said = ["resting", "filled", "partly", "swept", "nothing-there"].map((clientId) => {
      const { status, filled } = orderOf(exchange, clientId).answer;
      return [clientId, status, filled];
    });
    assert.deepEqual(said, [
      ["resting", "resting", 0],
      ["filled", "filled", 2],
      ["partly", "partiallyFilled", 3],
      ["swept", "cancelled", 1],
      ["nothing-there", "cancelled", 0],
    ]);
  });

  it("answers a client id that comes again with the first result and changes nothing", () => {
    const { exchange, effect } = applied(limitOrder("one"), limitOrder("one"));
    assert.ok(effect.kind === "order" && effect.duplicate);
    assert.equal(effect.order.seq, 2);
    assert.equal(exchange.book.size, 1);
  });

  it("keeps the client ids of one account apart from those of another", () => {
    const { exchange } = applied(limitOrder("one"), limitOrder("one", { account: "a", price: 9_999 }));
    assert.equal(orderOf(exchange, "one").seq, 2);
    assert.equal(orderOf(exchange, "one", "a").seq, 3);
  });

  it("takes client ids that are names of object properties", () => {
    const { exchange } = applied(limitOrder("constructor"), limitOrder("toString"), limitOrder("valueOf"));
    assert.equal(exchange.book.size, 3);
    assert.equal(exchange.orderOf("hasOwnProperty"), undefined);
  });

  it("cancels what is left of an order", () => {
    const { exchange, effect } = applied(
      limitOrder("bid", { quantity: 5 }),
      limitOrder("ask", { side: "sell", quantity: 2 }),
      cancelOf("bid"),
    );
    assert.ok(effect.kind === "cancelled");
    assert.deepEqual([effect.order.filled, effect.order.finalSeq], [2, 4]);
    assert.equal(exchange.isOpen("bid"), false);
    assert.equal(orderOf(exchange, "bid").answer.status, "resting", "the original answer stays");
  });

  it("answers a second cancellation like the first, and one that came too late with the order", () => {
    const twice = applied(limitOrder("bid"), cancelOf("bid"), cancelOf("bid"));
    assert.ok(twice.effect.kind === "cancelled");
    assert.deepEqual([twice.effect.order.finalSeq, twice.effect.duplicate], [3, true]);
    const late = applied(limitOrder("bid"), limitOrder("ask", { side: "sell" }), cancelOf("bid"));
    assert.ok(late.effect.kind === "nothingToCancel");
    assert.equal(late.effect.order?.clientId, "bid");
    const never = applied(cancelOf("nobody"));
    assert.ok(never.effect.kind === "nothingToCancel" && never.effect.order === null);
  });

  it("refuses to skip a record", () => {
    assert.throws(() => new Exchange().apply(epochStart(1, 2)), /record 2 was to be applied after record 0/);
  });
});

describe("a new epoch with other increments", () => {
  it("carries the book over to a finer tick", () => {
    const { exchange } = applied(limitOrder("bid", { price: 10_001 }));
    exchange.apply(epochStart(2, 3, { instance: "te-1", tickSize: "0.001" }));
    assert.deepEqual(exchange.book.depth("buy", 1), [{ price: 100_010, quantity: 5, orders: 1 }]);
    assert.equal(exchange.isOpen("bid"), true);
  });

  it("cancels an order that has no price in a coarser tick", () => {
    const { exchange } = applied(limitOrder("odd", { price: 10_001 }), limitOrder("even", { price: 10_000 }));
    exchange.apply(epochStart(2, 4, { instance: "te-1", tickSize: "1" }));
    assert.deepEqual(exchange.book.depth("buy", 9), [{ price: 100, quantity: 5, orders: 1 }]);
    const { finalSeq, reason } = orderOf(exchange, "odd");
    assert.deepEqual([finalSeq, reason], [4, "INCREMENTS"]);
  });

  it("still knows the same order when it is sent again", () => {
    const { exchange } = applied(limitOrder("bid", { price: 10_000, quantity: 5 }));
    const finer = tradingRules("BTC/USDT", "0.001", "0.00001");
    const original = orderOf(exchange, "bid");
    assert.equal(isSameRequest(original, limitOrder("bid", { price: 100_000, quantity: 5 }), finer), true);
    assert.equal(isSameRequest(original, limitOrder("bid", { price: 10_000, quantity: 5 }), finer), false);
  });
});

describe("the hash", () => {
  const history = randomCommands(60, 2).map((commands): JournalRecord[] => [
    epochStart(1, 1, { clientIdWindow: 20 }),
    ...commands.map((each, index) => record(1, index + 2, each)),
  ]);

  it("is the same on every replica at every record", () => {
    fc.assert(
      fc.property(history, (records) => {
        const [one, other] = [new Exchange(), new Exchange()];
        for (const each of records) {
          one.apply(each);
          other.apply(each);
          assert.deepEqual(one.lastHash, other.lastHash);
        }
        for (const { seq } of records) assert.equal(one.hashAt(seq), other.hashAt(seq));
      }),
      { numRuns: 100 },
    );
  });

  it("differs for good once one decision differed", () => {
    const common = [limitOrder("a"), limitOrder("b", { side: "sell", quantity: 1 })];
    const one = applied(...common, limitOrder("c"), limitOrder("d")).exchange;
    const other = applied(...common, limitOrder("x"), limitOrder("d")).exchange;
    assert.equal(one.hashAt(3), other.hashAt(3));
    assert.notEqual(one.hashAt(4), other.hashAt(4));
    assert.notEqual(one.lastHash.hash, other.lastHash.hash);
  });

  it("is unknown before it is reached", () => {
    const { exchange } = applied(limitOrder("a"));
    assert.equal(exchange.hashAt(3), null);
    assert.equal(exchange.hashAt(0), null);
  });
});

describe("a replacement", () => {
  it("has a client id of its own, and what it does not name stays as it was", () => {
    const { exchange, effect } = applied(
      limitOrder("old", { price: 90, quantity: 5 }),
      replaceOf("old", "new", { price: 91 }),
    );
    assert.ok(effect.kind === "order" && !effect.duplicate);
    assert.deepEqual([orderOf(exchange, "old").status, orderOf(exchange, "old").reason], ["cancelled", "REPLACED"]);
    assert.deepEqual(exchange.book.depth("buy", 9), [{ price: 91, quantity: 5, orders: 1 }]);
    assert.equal(orderOf(exchange, "new").isOpen, true);
  });

  it("counts what has traded already towards the new quantity, so that a late fill is not bought twice", () => {
    const { exchange } = applied(
      limitOrder("old", { quantity: 10 }),
      limitOrder("ask", { side: "sell", quantity: 4 }),
      replaceOf("old", "new", { quantity: 12 }),
    );
    const { filled, remaining, status } = orderOf(exchange, "new");
    assert.deepEqual({ filled, remaining, status }, { filled: 4, remaining: 8, status: "partiallyFilled" });
  });

  const refused: readonly [string, readonly Command[], string][] = [
    ["of an order that never was", [replaceOf("never", "new", { price: 1 })], "NOT_FOUND"],
    [
      "of an order that is filled",
      [limitOrder("old"), limitOrder("ask", { side: "sell" }), replaceOf("old", "new", { price: 1 })],
      "ORDER_FINAL",
    ],
    [
      "by a quantity that has traded already",
      [
        limitOrder("old", { quantity: 10 }),
        limitOrder("ask", { side: "sell", quantity: 4 }),
        replaceOf("old", "new", { quantity: 4 }),
      ],
      "QUANTITY_FILLED",
    ],
    [
      "of the stop price of an order that does not wait",
      [limitOrder("old"), replaceOf("old", "new", { stopPrice: 1 })],
      "BAD_STOP_PRICE",
    ],
  ];
  for (const [what, commands, reason] of refused) {
    it(`${what} changes nothing and says ${reason}`, () => {
      const before = applied(...commands.slice(0, -1)).exchange;
      const { exchange } = applied(...commands);
      assert.deepEqual(
        [orderOf(exchange, "new").answer.status, orderOf(exchange, "new").answer.reason],
        ["rejected", reason],
      );
      assert.deepEqual(exchange.book.depth("buy", 9), before.book.depth("buy", 9));
    });
  }

  it("that comes again gets the first answer, even when it would have another effect now", () => {
    const { effect } = applied(
      replaceOf("old", "new", { price: 91 }),
      limitOrder("old"),
      replaceOf("old", "new", { price: 91 }),
    );
    assert.ok(effect.kind === "order" && effect.duplicate);
    assert.equal(effect.order.answer.reason, "NOT_FOUND");
  });

  it("of another order with the same client id is told apart", () => {
    const { effect } = applied(
      limitOrder("a"),
      limitOrder("b"),
      replaceOf("a", "new", { price: 1 }),
      replaceOf("b", "new", { price: 1 }),
    );
    assert.equal(effect.kind, "clientIdReused");
  });
});

describe("the window of client ids", () => {
  const start = epochStart(1, 1, { clientIdWindow: 3 });
  const history = (...commands: readonly Command[]) => {
    const exchange = new Exchange();
    exchange.apply(start);
    return { exchange, effects: commands.map((command, index) => exchange.apply(record(1, index + 2, command))) };
  };
  const filler = (count: number) =>
    Array.from({ length: count }, (_, index) => limitOrder(`filler-${index}`, { price: 1 }));

  it("remembers a final order for so many records, and an open one as long as it is open", () => {
    const short = history(
      limitOrder("open"),
      limitOrder("gone", { type: "market", price: 0, side: "sell", quantity: 9 }),
      ...filler(3),
    );
    assert.notEqual(short.exchange.orderOf("gone"), undefined);
    const long = history(
      limitOrder("open"),
      limitOrder("gone", { type: "market", price: 0, side: "buy" }),
      ...filler(4),
    );
    assert.equal(long.exchange.orderOf("gone"), undefined);
    assert.notEqual(long.exchange.orderOf("open"), undefined);
  });

  it("refuses an order that may have been placed and forgotten, and only that", () => {
    const old = limitOrder("old", { type: "market", price: 0, after: 1 });
    const { exchange, effects } = history(old, ...filler(5), old);
    const last = effects.at(-1);
    assert.ok(last?.kind === "order");
    assert.equal(last.order.answer.reason, "CLIENT_ID_EXPIRED");
    assert.equal(exchange.orderOf("old"), undefined, "it is not taken for an order that was placed");
    const { effects: within } = history(...filler(2), limitOrder("late", { after: 1 }));
    assert.equal(within.at(-1)?.kind === "order" && within.at(-1)?.effect.rested.length, 1);
  });

  it("never lets a client id be two orders, whenever it is sent again", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.nat(12), { maxLength: 6 }), (window, gaps) => {
        const exchange = new Exchange();
        exchange.apply(epochStart(1, 1, { clientIdWindow: window }));
        let seq = 1;
        const next = (command: Command) => exchange.apply(record(1, (seq += 1), command));
        const order = limitOrder("again", { type: "market", price: 0, after: 1 });
        let placed = 0;
        for (const gap of [0, ...gaps]) {
          for (const other of filler(gap)) next({ ...other, clientId: `filler-${seq}` });
          const applied = next(order);
          assert.ok(applied.kind === "order");
          if (!applied.duplicate && applied.order.answer.status !== "rejected") placed += 1;
        }
        assert.ok(placed <= 1);
      }),
    );
  });
});

describe("a malformed order", () => {
  for (const [what, terms, reason] of [
    ["a price of NaN", { price: Number.NaN }, "BAD_PRICE"],
    ["a negative quantity", { quantity: -1 }, "BAD_QUANTITY"],
    ["a quantity beyond exact numbers", { quantity: 2 ** 53 }, "BAD_QUANTITY"],
    ["a market order with a price", { type: "market" }, "BAD_PRICE"],
    ["a stop order without a stop price", { type: "stop", price: 0 }, "BAD_STOP_PRICE"],
    ["a post-only order that is not to rest", { postOnly: true, timeInForce: "ioc" }, "BAD_POST_ONLY"],
    ["a huge account", { account: "x".repeat(65) }, "BAD_ACCOUNT"],
    ["a sequence number of NaN", { after: Number.NaN }, "BAD_AFTER"],
  ] as const) {
    it(`with ${what} is refused with ${reason} and leaves no trace`, () => {
      const { exchange, effect } = applied(limitOrder("bad", terms));
      assert.ok(effect.kind === "order");
      assert.equal(effect.order.answer.reason, reason);
      assert.deepEqual([exchange.book.size, exchange.knownOrders], [0, 0]);
    });
  }

  it("with a huge client id, or one like an object's property, is refused or is an id like any other", () => {
    const huge = applied(limitOrder("x".repeat(100_000))).effect;
    assert.ok(huge.kind === "order" && huge.order.answer.reason === "BAD_CLIENT_ID");
    assert.equal(orderOf(applied(limitOrder("__proto__")).exchange, "__proto__").isOpen, true);
  });
});

describe("quantities", () => {
  it("are conserved: what is bought is sold, and no order trades more than it asked for", () => {
    fc.assert(
      fc.property(randomCommands(80, 2), (commands) => {
        const exchange = new Exchange();
        exchange.apply(epochStart(1, 1));
        const traded = new Map<Order, number>();
        const add = (order: Order, quantity: number) => traded.set(order, (traded.get(order) ?? 0) + quantity);
        commands.forEach((command, index) => {
          for (const { maker, taker, quantity } of exchange.apply(record(1, index + 2, command)).effect.trades) {
            assert.ok(maker.terms.side !== taker.terms.side);
            add(maker, quantity);
            add(taker, quantity);
          }
        });
        for (const [order, quantity] of traded) {
          assert.ok(quantity <= order.filled && order.filled + order.remaining <= order.terms.quantity);
        }
      }),
      { numRuns: 100 },
    );
  });
});
