import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { type EngineClient, type HttpResult, written } from "../testing/engineClient.ts";
import { startAlone, startEngine, startTrio } from "../testing/testEngine.ts";
import { testRules } from "../testing/testReplica.ts";
import { InvalidOrder, parseOrder } from "./parseOrder.ts";

const good = { clientId: "one", type: "limit", side: "buy", price: "100.00", quantity: "0.5" };

describe("an order's body", () => {
  it("is read in ticks and lots", () => {
    assert.deepEqual(parseOrder(JSON.stringify(good), testRules), {
      kind: "order",
      clientId: "one",
      type: "limit",
      side: "buy",
      price: 10_000,
      quantity: 50_000,
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
    ["an unknown type", { ...good, type: "stop" }, "BAD_TYPE"],
    ["an unknown side", { ...good, side: "hold" }, "BAD_SIDE"],
    ["a price between ticks", { ...good, price: "100.001" }, "BAD_PRICE"],
    ["a price that is a number", { ...good, price: 100 }, "BAD_PRICE"],
    ["no price", { ...good, price: undefined }, "BAD_PRICE"],
    ["a market order with a price", { ...good, type: "market" }, "BAD_PRICE"],
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
    assert.deepEqual(await engine.find("one"), again);
    assert.deepEqual(codeOf(await engine.order({ ...good, quantity: "0.6" })), [409, "CLIENT_ID_REUSED"]);
    assert.deepEqual(codeOf(await engine.find("two")), [404, "NOT_FOUND"]);
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
