/**
 * Kubernetes quantities ("500m", "4Gi", 2): their schema, and their value for comparisons.
 */
import { z } from "zod";
import { matching, withRules } from "./rule.ts";

const pattern = /^([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/;

const multipliers: Readonly<Record<string, number>> = {
  "": 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Value of a quantity, in its base unit (cores, bytes). NaN when it is not a quantity. */
export const quantityValue = (quantity: string | number): number => {
  const [, digits, suffix = ""] = pattern.exec(String(quantity)) ?? [];
  return digits === undefined ? Number.NaN : Number(digits) * (multipliers[suffix] ?? Number.NaN);
};

/** A quantity of a resource such as cpu, where people also write plain numbers. */
export const quantity = withRules(
  z.union([z.int(), z.string().max(32)]).meta({ "x-kubernetes-int-or-string": true, maxLength: 32 }),
  [
    {
      message: "must be a quantity of zero or more, such as 500m, 2 or 4Gi",
      cel: `string(self).matches(${JSON.stringify(pattern.source)})`,
      holds: (value) => pattern.test(String(value)),
    },
  ],
);

/** A size in bytes, greater than zero. */
export const byteSize = withRules(z.string().max(32), [
  matching(
    /^[1-9][0-9]*(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$/,
    "must be a whole size in bytes greater than zero, such as 20Gi or 500Mi",
  ),
]);
