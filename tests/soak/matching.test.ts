import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { Exchange } from "../../engine/exchange/exchange.ts";
import { randomCommands } from "../../engine/testing/randomCommands.ts";
import { epochStart, record } from "../../engine/testing/records.ts";
import { assertSameEffect, assertSameState } from "../../engine/testing/sameAsModel.ts";
import { SlowExchange } from "../../engine/testing/slowExchange.ts";

const operations = 1_000_000;

/** By hand; takes minutes. A failure names its seed and path, and the unit test's property repeats it. */
describe("the exchange against the slow model, for long", () => {
  it(`does the same with ${operations.toLocaleString("en")} random commands`, (test) => {
    let applied = 0;
    const kinds = new Map<string, number>();
    const count = (kind: string) => kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    while (applied < operations) {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 200 }), randomCommands(400, 2), (window, commands) => {
          const exchange = new Exchange();
          exchange.apply(epochStart(1, 1, { clientIdWindow: window }));
          const model = new SlowExchange(window);
          commands.forEach((command, index) => {
            const result = exchange.apply(record(1, index + 2, command));
            assertSameEffect(result, model.apply(index + 2, command));
            const { effect } = result;
            for (const { status, reason } of effect.ended) count(reason ?? status);
            if (effect.triggered.length > 0) count("triggered");
            if (effect.triggered.length > 1) count("cascade");
            if (effect.trades.length > 0) count("traded");
            if (effect.reduced.length > 0) count("reduced");
            if ("duplicate" in result && result.duplicate) count("duplicate");
            if (result.kind === "clientIdReused") count("clientIdReused");
          });
          assertSameState(exchange, model);
          applied += commands.length;
        }),
        { numRuns: 100 },
      );
    }
    for (const [kind, times] of kinds) test.diagnostic(`${kind}: ${times}`);
    for (const kind of [
      "cascade",
      "reduced",
      "duplicate",
      "FILL_OR_KILL",
      "WOULD_CROSS",
      "LEVEL_OVERFLOW",
      "CLIENT_ID_EXPIRED",
    ]) {
      assert.ok((kinds.get(kind) ?? 0) > 100, `${kind} came about often enough to count`);
    }
  });
});
