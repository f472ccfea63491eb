import { z } from "zod";
import { matching, withRules } from "../schema/rule.ts";

export const tradingPair = withRules(
  z.string().max(33),
  [
    matching(
      /^[A-Z0-9]{1,16}\/[A-Z0-9]{1,16}$/,
      "tradingPair must be BASE/QUOTE in capital letters and digits, such as BTC/USDT",
    ),
  ],
  [
    {
      cel: "self == oldSelf",
      message:
        "tradingPair cannot change, because the journal holds orders of this pair: create another TradingEngine for the other pair",
    },
  ],
).describe("The pair that this engine matches, BASE/QUOTE. Immutable.");
