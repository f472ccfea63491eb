import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { type EngineClient, type HttpResult, written } from "../testing/engineClient.ts";
import { startAlone, startEngine, startTrio } from "../testing/testEngine.ts";
import { testRules } from "../testing/testReplica.ts";
import { InvalidOrder, parseOrder, parseReplace } from "./parseOrder.ts";

const good = { clientId: "one", type: "limit", side: "buy", price: "100.00", quantity: "0.5" };

describe("an order's body", () => {
  it("is read in ticks and lots", () => {
    assert.deepEqual(parseOrder(JSON.stringify(good), testRules), {
      kind: "order",
      account: "",
      clientId: "one",
      type: "limit",
      side: "buy",
      price: 10_000,
      stopPrice: 0,
      quantity: 50_000,
      timeInForce: "gtc",
      postOnly: false,
      selfTrade: "cancelNewest",
      after: 0,
    });
  });

  it("of a market order has no price", () => {
    const market = { ...good, type: "market", price: undefined };
    assert.equal(parseOrder(JSON.stringify(market), testRules).price, 0);
  });

  const refused: readonly [string, unknown, InvalidOrder["code"]][] = [
    ["a list", [], "BAD_REQUEST"],
    ["no client id", { ...good, clientId: undefined }, "BAD_CLIENT_ID"],
    ["an empty client id", { ...good, clientId: "" }, "BAD_CLIENT_ID"],
    ["a client id of 65 characters", { ...good, clientId: "x".repeat(65) }, "BAD_CLIENT_ID"],
    ["a client id that is no ASCII", { ...good, clientId: "\u00fc" }, "BAD_CLIENT_ID"],
    ["an unknown type", { ...good, type: "hold" }, "BAD_TYPE"],
    ["an unknown side", { ...good, side: "hold" }, "BAD_SIDE"],
    ["a price between ticks", { ...good, price: "100.001" }, "BAD_PRICE"],
    ["a price that is a number", { ...good, price: 100 }, "BAD_PRICE"],
    ["no price", { ...good, price: undefined }, "BAD_PRICE"],
    ["a market order with a price", { ...good, type: "market" }, "BAD_PRICE"],
    ["a stop order without a stop price", { ...good, type: "stop", price: undefined }, "BAD_STOP_PRICE"],
    ["a limit order with a stop price", { ...good, stopPrice: "1" }, "BAD_STOP_PRICE"],
    ["an unknown time in force", { ...good, timeInForce: "day" }, "BAD_TIME_IN_FORCE"],
    [
      "a market order that is post-only",
      { ...good, type: "market", price: undefined, postOnly: true },
      "BAD_POST_ONLY",
    ],
    ["an unknown self-trade prevention", { ...good, selfTrade: "allow" }, "BAD_SELF_TRADE"],
    ["an account of 65 characters", { ...good, account: "x".repeat(65) }, "BAD_ACCOUNT"],
    ["a sequence number between others", { ...good, after: 1.5 }, "BAD_AFTER"],
    ["another trading pair", { ...good, symbol: "ETH/USDT" }, "UNKNOWN_SYMBOL"],
    ["a quantity of nothing", { ...good, quantity: "0" }, "BAD_QUANTITY"],
    ["a negative quantity", { ...good, quantity: "-1" }, "BAD_QUANTITY"],
    ["a quantity between lots", { ...good, quantity: "0.000001" }, "BAD_QUANTITY"],
    ["a quantity beyond exact numbers", { ...good, quantity: "99999999999999999" }, "BAD_QUANTITY"],
  ];
  for (const [what, body, code] of refused) {
    it(`is refused with ${what}: ${code}`, () => {
      assert.throws(
        () => parseOrder(JSON.stringify(body), testRules),
        (error) => error instanceof InvalidOrder && error.code === code,
      );
    });
  }

  it("names whatever else the order is to heed", () => {
    const terms = {
      type: "stopLimit",
      stopPrice: "99",
      timeInForce: "fok",
      selfTrade: "cancelBoth",
      account: "a",
      after: 7,
    };
    const read = parseOrder(JSON.stringify({ ...good, ...terms, symbol: "BTC/USDT" }), testRules);
    assert.deepEqual(read, { ...parseOrder(JSON.stringify(good), testRules), ...terms, stopPrice: 9_900 });
  });

  it("of a replacement names what is to change, and the order that it is for", () => {
    assert.deepEqual(parseReplace(JSON.stringify({ clientId: "two", price: "99" }), "one", testRules), {
      kind: "replace",
      account: "",
      clientId: "two",
      target: "one",
      price: 9_900,
      stopPrice: 0,
      quantity: 0,
      after: 0,
    });
    assert.throws(() => parseReplace(JSON.stringify({ clientId: "two" }), "one", testRules), InvalidOrder);
  });

  it("has nothing that it did not name itself", () => {
    const text = '{"__proto__":{"clientId":"one"},"type":"limit","side":"buy","price":"1","quantity":"1"}';
    assert.throws(() => parseOrder(text, testRules), /clientId/);
  });

  it("is refused when it is not JSON", () => {
    assert.throws(() => parseOrder("{", testRules), InvalidOrder);
  });
});

const codeOf = ({ status, body }: HttpResult): [number, unknown] => [status, body["code"]];

const raw = (engine: EngineClient, method: string, path: string): Promise<Response> =>
  fetch(`http://${written(engine.addresses.orders)}${path}`, { method });

describe("order entry", () => {
  it("answers with the place in history, the status and the trades", async (test) => {
    const engine = await startAlone(test);
    const resting = await engine.order({ ...good, clientId: "ask", side: "sell", quantity: "0.2" });
    assert.deepEqual(resting, {
      status: 200,
      body: {
        epoch: 1,
        seq: 2,
        orderId: "1-2",
        clientId: "ask",
        status: "resting",
        filledQuantity: "0.00000",
        trades: [],
        duplicate: false,
      },
    });
    const taker = await engine.order({ ...good, price: "101" });
    assert.equal(taker.body["status"], "partiallyFilled");
    assert.equal(taker.body["filledQuantity"], "0.20000");
    assert.deepEqual(taker.body["trades"], [{ tradeId: "3-1", price: "100.00", quantity: "0.20000" }]);
    const market = await engine.order({ clientId: "all", type: "market", side: "sell", quantity: "1" });
    assert.deepEqual([market.body["status"], market.body["filledQuantity"]], ["cancelled", "0.30000"]);
  });

  it("answers the same order again, whatever way it is asked", async (test) => {
    const engine = await startAlone(test);
    const first = await engine.order(good);
    const again = { status: 200, body: { ...first.body, duplicate: true } };
    assert.deepEqual(await engine.order(good), again);
    assert.deepEqual(await engine.order({ ...good, quantity: "0.50" }), again);
    const now = { status: "resting", filledQuantity: "0.00000", remainingQuantity: "0.50000" };
    assert.deepEqual(await engine.find("one"), { status: 200, body: { ...again.body, now } });
    assert.deepEqual(codeOf(await engine.order({ ...good, quantity: "0.6" })), [409, "CLIENT_ID_REUSED"]);
    assert.deepEqual(codeOf(await engine.find("two")), [404, "NOT_FOUND"]);
  });

  it("tells the owner of a resting order what became of it", async (test) => {
    const engine = await startAlone(test);
    await engine.order(good);
    await engine.order({ ...good, clientId: "ask", side: "sell", quantity: "0.2" });
    const { status, now } = (await engine.find("one")).body;
    assert.equal(status, "resting");
    assert.deepEqual(now, { status: "partiallyFilled", filledQuantity: "0.20000", remainingQuantity: "0.30000" });
  });

  it("replaces an order by another, once", async (test) => {
    const engine = await startAlone(test);
    await engine.order(good);
    const replace = () =>
      fetch(`http://${written(engine.addresses.orders)}/v1/orders/one`, {
        method: "PUT",
        body: JSON.stringify({ clientId: "two", price: "99" }),
      }).then((response) => response.json() as Promise<Record<string, unknown>>);
    const first = await replace();
    assert.deepEqual([first["status"], first["clientId"], first["seq"]], ["resting", "two", 3]);
    assert.deepEqual(await replace(), { ...first, duplicate: true });
    assert.deepEqual((await engine.find("one")).body["now"], {
      status: "cancelled",
      reason: "REPLACED",
      filledQuantity: "0.00000",
      remainingQuantity: "0.00000",
    });
  });

  it("says why an order was refused", async (test) => {
    const engine = await startAlone(test);
    await engine.order(good);
    const { body } = await engine.order({ ...good, clientId: "two", side: "sell", postOnly: true });
    assert.deepEqual([body["status"], body["reason"]], ["rejected", "WOULD_CROSS"]);
  });

  it("cancels what is left, once", async (test) => {
    const engine = await startAlone(test);
    await engine.order(good);
    const cancelled = await engine.cancel("one");
    assert.deepEqual([cancelled.status, cancelled.body["status"], cancelled.body["seq"]], [200, "cancelled", 3]);
    const again = await engine.cancel("one");
    assert.deepEqual([again.body["seq"], again.body["duplicate"]], [3, true]);
    assert.deepEqual(codeOf(await engine.cancel("two")), [404, "NOT_FOUND"]);
    await engine.order({ ...good, clientId: "ask", side: "sell" });
    await engine.order({ ...good, clientId: "bid" });
    assert.deepEqual(codeOf(await engine.cancel("bid")), [409, "ORDER_FINAL"]);
  });

  it("shows the book", async (test) => {
    const engine = await startAlone(test);
    await engine.order(good);
    await engine.order({ ...good, clientId: "two", quantity: "1" });
    await engine.order({ ...good, clientId: "ask", side: "sell", price: "100.01" });
    const book = (await (await raw(engine, "GET", "/v1/book?depth=5")).json()) as Record<string, unknown>;
    assert.deepEqual(book, {
      epoch: 1,
      seq: 4,
      bids: [{ price: "100.00", quantity: "1.50000", orders: 2 }],
      asks: [{ price: "100.01", quantity: "0.50000", orders: 1 }],
    });
    assert.equal((await raw(engine, "GET", "/v1/book?depth=0")).status, 400);
  });

  it("refuses bad input with a stable code and does nothing", async (test) => {
    const engine = await startAlone(test);
    assert.deepEqual(codeOf(await engine.order({ ...good, price: "NaN" })), [400, "BAD_PRICE"]);
    assert.deepEqual(codeOf(await engine.order({ ...good, note: "x".repeat(5_000) })), [413, "BODY_TOO_LONG"]);
    assert.equal((await raw(engine, "GET", "/v1/orders/%zz")).status, 400);
    assert.equal((await raw(engine, "PATCH", "/v1/orders")).status, 404);
    assert.equal((await engine.status()).watermarks.received, 1);
  });

  it("leads to the primary from a standby, and nowhere while there is none", async (test) => {
    const [primary, second] = await startTrio(test);
    const misdirected = await second.bid("one");
    assert.deepEqual(codeOf(misdirected), [421, "NOT_PRIMARY"]);
    assert.deepEqual(misdirected.body["leader"], { instance: "te-0", orders: written(primary.addresses.orders) });
    const lonely = await startEngine(test, "te-9");
    assert.deepEqual((await lonely.bid("one")).body["leader"], null);
    assert.deepEqual(codeOf(await lonely.find("one")), [421, "NOT_PRIMARY"]);
  });
});
