import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import type { Command, EpochStart, JournalRecord } from "../journal/record.ts";
import { epochStart, limitOrder, record } from "../testing/records.ts";
import { Exchange, isSameRequest, type OrderResult } from "./exchange.ts";
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

const resultOf = (exchange: Exchange, clientId: string): OrderResult => {
  const result = exchange.resultOf(clientId);
  assert.ok(result !== undefined);
  return result;
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
      const { status, filled } = resultOf(exchange, clientId);
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
    const { exchange, effect } = applied(limitOrder("one"), limitOrder("one", { quantity: 99 }));
    assert.ok(effect.kind === "order" && effect.duplicate);
    assert.equal(effect.result.position.seq, 2);
    assert.equal(exchange.book.size, 1);
  });

  it("takes client ids that are names of object properties", () => {
    const { exchange } = applied(limitOrder("__proto__"), limitOrder("constructor"), limitOrder("toString"));
    assert.equal(exchange.book.size, 3);
    assert.equal(exchange.resultOf("hasOwnProperty"), undefined);
  });

  it("cancels what is left of an order", () => {
    const { exchange, effect } = applied(
      limitOrder("bid", { quantity: 5 }),
      limitOrder("ask", { side: "sell", quantity: 2 }),
      { kind: "cancel", clientId: "bid" },
    );
    assert.ok(effect.kind === "cancelled");
    assert.equal(effect.result.filled, 2);
    assert.equal(exchange.isOpen("bid"), false);
    assert.equal(exchange.cancellationOf("bid")?.position.seq, 4);
    assert.equal(resultOf(exchange, "bid").status, "resting", "the original answer stays");
  });

  it("answers a second cancellation like the first, and one that came too late with the order", () => {
    const twice = applied(limitOrder("bid"), { kind: "cancel", clientId: "bid" }, { kind: "cancel", clientId: "bid" });
    assert.ok(twice.effect.kind === "cancelled");
    assert.equal(twice.effect.result.position.seq, 3);
    const late = applied(limitOrder("bid"), limitOrder("ask", { side: "sell" }), { kind: "cancel", clientId: "bid" });
    assert.ok(late.effect.kind === "nothingToCancel");
    assert.equal(late.effect.order?.order.clientId, "bid");
    const never = applied({ kind: "cancel", clientId: "nobody" });
    assert.deepEqual(never.effect, { kind: "nothingToCancel", order: null });
  });

  it("refuses to skip a record", () => {
    assert.throws(() => new Exchange().apply(epochStart(1, 2)), /record 2 was to be applied after record 0/);
  });
});

describe("a new epoch with other increments", () => {
  it("carries the book over to a finer tick", () => {
    const { exchange } = applied(limitOrder("bid", { price: 10_001 }));
    exchange.apply(epochStart(2, 3, "te-1", "0.001"));
    assert.deepEqual(exchange.book.depth("buy", 1), [{ price: 100_010, quantity: 5, orders: 1 }]);
    assert.equal(exchange.isOpen("bid"), true);
  });

  it("cancels an order that has no price in a coarser tick", () => {
    const { exchange } = applied(limitOrder("odd", { price: 10_001 }), limitOrder("even", { price: 10_000 }));
    exchange.apply(epochStart(2, 4, "te-1", "1"));
    assert.deepEqual(exchange.book.depth("buy", 9), [{ price: 100, quantity: 5, orders: 1 }]);
    assert.equal(exchange.cancellationOf("odd")?.position.seq, 4);
  });

  it("still knows the same order when it is sent again", () => {
    const { exchange } = applied(limitOrder("bid", { price: 10_000, quantity: 5 }));
    const finer = tradingRules("BTC/USDT", "0.001", "0.00001");
    const original = resultOf(exchange, "bid");
    assert.equal(isSameRequest(original, limitOrder("bid", { price: 100_000, quantity: 5 }), finer), true);
    assert.equal(isSameRequest(original, limitOrder("bid", { price: 10_000, quantity: 5 }), finer), false);
  });
});

const command: fc.Arbitrary<Exclude<Command, EpochStart>> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("order" as const),
      clientId: fc.integer({ min: 1, max: 40 }).map((id) => `c${id}`),
      side: fc.constantFrom("buy" as const, "sell" as const),
      type: fc.constant("limit" as const),
      price: fc.integer({ min: 1, max: 8 }),
      quantity: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("cancel" as const),
      clientId: fc.integer({ min: 1, max: 40 }).map((id) => `c${id}`),
    }),
  },
);

describe("the hash", () => {
  const history = fc
    .array(command, { minLength: 1, maxLength: 60 })
    .map((commands): JournalRecord[] => [
      epochStart(1, 1),
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

describe("quantities", () => {
  it("are conserved: what is bought is sold, and no order trades more than it asked for", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 80 }), (commands) => {
        const { exchange } = applied(...commands);
        const traded = new Map<number, number>();
        const add = (id: number, quantity: number) => traded.set(id, (traded.get(id) ?? 0) + quantity);
        const results = [...new Set(commands.map(({ clientId }) => clientId))]
          .map((clientId) => exchange.resultOf(clientId))
          .filter((result) => result !== undefined);
        for (const result of results) {
          for (const fill of result.fills) {
            add(result.position.seq, fill.quantity);
            add(fill.maker, fill.quantity);
          }
        }
        for (const { position, order } of results) {
          const resting = exchange.book.get(position.seq)?.remaining ?? 0;
          assert.ok((traded.get(position.seq) ?? 0) + resting <= order.quantity);
        }
      }),
      { numRuns: 100 },
    );
  });
});
