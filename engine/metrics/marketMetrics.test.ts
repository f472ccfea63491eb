import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Exchange } from "../exchange/exchange.ts";
import type { Command } from "../journal/record.ts";
import { epochStart, limitOrder, record } from "../testing/records.ts";
import { MarketMetrics } from "./marketMetrics.ts";

/** The lines of the metrics after `commands`. */
const after = (...commands: readonly Command[]): string[] => {
  const exchange = new Exchange();
  const metrics = new MarketMetrics();
  exchange.apply(epochStart(1, 1));
  for (const [index, command] of commands.entries()) {
    metrics.applied(exchange.apply(record(1, index + 2, command)), exchange.book);
  }
  return metrics.render(exchange.book).split("\n");
};

const bid = (clientId: string, price: number, quantity = 1) => limitOrder(clientId, { price, quantity });
const ask = (clientId: string, price: number, quantity = 1) => limitOrder(clientId, { side: "sell", price, quantity });

describe("market metrics", () => {
  it("count orders by type and result, trades and duplicates", () => {
    const lines = after(bid("a", 100, 5), ask("b", 100, 2), ask("b", 100, 2), ask("c", 101));
    assert.ok(lines.includes('engine_orders_total{type="limit",result="resting"} 2'));
    assert.ok(lines.includes('engine_orders_total{type="limit",result="filled"} 1'));
    assert.ok(lines.includes("engine_trades_total 1"));
    assert.ok(lines.includes("engine_duplicates_total 1"));
  });

  it("show the book: levels, spread, and depth near the mid price", () => {
    const lines = after(bid("a", 9_990, 3), bid("b", 9_960, 4), bid("far", 9_000, 9), ask("c", 10_010, 5));
    assert.ok(lines.includes('engine_book_levels{side="buy"} 3'));
    assert.ok(lines.includes("engine_spread_ticks 20"));
    assert.ok(lines.includes('engine_book_depth{side="buy",band="10bps"} 3'));
    assert.ok(lines.includes('engine_book_depth{side="buy",band="50bps"} 7'));
    assert.ok(lines.includes('engine_book_depth{side="sell",band="10bps"} 5'));
  });

  it("leave out what needs both sides while one is empty", () => {
    assert.ok(!after(bid("a", 100)).some((line) => line.startsWith("engine_spread_ticks ")));
  });

  for (const [side, taker] of [
    ["a buyer", bid("taker", 10_100, 2)],
    ["a seller", ask("taker", 9_900, 2)],
  ] as const) {
    it(`hold ${side}'s average price against the mid price at its arrival`, () => {
      // The mid price is 10,000, and the two trades are 100 basis points away from it on average.
      const book = [bid("a", 9_950), bid("b", 9_850), ask("c", 10_050), ask("d", 10_150)];
      const worst = { ...taker, price: taker.side === "buy" ? 10_150 : 9_850 };
      assert.ok(after(...book, worst).includes("engine_slippage_bps_sum 100"));
    });
  }
});
