import { z } from "zod";
import { matching, withRules } from "../schema/rule.ts";

const step = (field: string) =>
  withRules(z.string().max(40), [
    matching(
      /^(0|[1-9][0-9]*)(\.[0-9]+)?$/,
      `${field} must be a decimal number in quotes, such as "0.01": a YAML number would lose digits`,
    ),
    {
      message: `${field} must be greater than zero`,
      cel: "self.matches('[1-9]')",
      holds: (value: string) => /[1-9]/.test(value),
    },
  ]);

export const config = z
  .looseObject({
    tickSize: step("config.tickSize").default("0.01").describe("Smallest step of a price, a decimal number as text."),
    lotSize: step("config.lotSize")
      .default("0.00001")
      .describe("Smallest step of a quantity, a decimal number as text."),
  })
  .prefault({})
  .describe(
    "Configuration of the engine, given to it as a JSON file together with tradingPair. Further keys are passed on untouched. A change is rolled out by upgradeStrategy.",
  );
