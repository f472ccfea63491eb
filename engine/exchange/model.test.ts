import { describe, it } from "node:test";

import fc from "fast-check";

import { randomCommands } from "../testing/randomCommands.ts";
import { epochStart, record } from "../testing/records.ts";
import { assertSameEffect, assertSameState } from "../testing/sameAsModel.ts";
import { SlowExchange } from "../testing/slowExchange.ts";
import { Exchange } from "./exchange.ts";

describe("the exchange against an independent slow model", () => {
  it("does the same with every record, and holds the same orders in the same places", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), randomCommands(150, 2), (window, commands) => {
        const exchange = new Exchange();
        exchange.apply(epochStart(1, 1, { clientIdWindow: window }));
        const model = new SlowExchange(window);
        commands.forEach((command, index) => {
          assertSameEffect(exchange.apply(record(1, index + 2, command)), model.apply(index + 2, command));
        });
        assertSameState(exchange, model);
      }),
      { numRuns: 120, plugins: [fc.interruptAfterTimeLimit(20_000)] },
    );
  });
});
