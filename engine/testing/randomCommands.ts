import fc from "fast-check";

import { orderTypes, selfTradePreventions, sides, timesInForce } from "../book/terms.ts";
import type { CancelOrder, PlaceOrder, ReplaceOrder } from "../journal/record.ts";

export type ClientCommand = PlaceOrder | ReplaceOrder | CancelOrder;

/** A command, or the one at `index` sent once more. */
type Step = ClientCommand | { readonly kind: "again"; readonly index: number };

const clientId = fc.nat(60).map((number) => `c${number}`);
const account = fc.constantFrom("", "", "a", "b");
const price = fc.integer({ min: 95, max: 105 });
const often = <Value>(usual: fc.Arbitrary<Value>, ...seldom: readonly Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom(...seldom) });
const quantity = often(fc.integer({ min: 1, max: 20 }), 0, -1, 0.5, Number.NaN, 2 ** 53, Number.MAX_SAFE_INTEGER);
/** How far behind the client's view is; it is made into `after` by the place in the history. */
const after = fc.oneof(
  { weight: 5, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 50 }) },
);

const order: fc.Arbitrary<PlaceOrder> = fc
  .record({
    kind: fc.constant("order" as const),
    account,
    clientId: often(clientId, "", "__proto__", "constructor", "x".repeat(65), "a b"),
    side: fc.constantFrom(...sides),
    type: fc.oneof(
      { weight: 3, arbitrary: fc.constant("limit" as const) },
      { weight: 2, arbitrary: fc.constantFrom(...orderTypes) },
    ),
    price: often(price, 0, -1, Number.NaN, 2 ** 53),
    stopPrice: often(price, 0, -1, Number.NaN),
    quantity,
    timeInForce: fc.oneof(
      { weight: 3, arbitrary: fc.constant("gtc" as const) },
      { weight: 1, arbitrary: fc.constantFrom(...timesInForce) },
    ),
    postOnly: fc.integer({ min: 0, max: 5 }).map((number) => number === 0),
    selfTrade: fc.constantFrom(...selfTradePreventions),
    after,
  })
  .map((drawn) => ({
    ...drawn,
    // Most orders are well formed; what does not belong to the type is left in now and then by the odd values.
    price: (drawn.type === "market" || drawn.type === "stop") && drawn.price > 0 ? 0 : drawn.price,
    stopPrice: (drawn.type === "limit" || drawn.type === "market") && drawn.stopPrice > 0 ? 0 : drawn.stopPrice,
  }));

const maybe = (value: fc.Arbitrary<number>): fc.Arbitrary<number> => fc.oneof(fc.constant(0), value);

const replace: fc.Arbitrary<ReplaceOrder> = fc.record({
  kind: fc.constant("replace" as const),
  account,
  clientId,
  target: clientId,
  price: maybe(price),
  stopPrice: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: price }),
  quantity: maybe(quantity),
  after,
});

const cancel: fc.Arbitrary<CancelOrder> = fc.record({ kind: fc.constant("cancel" as const), account, clientId });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: order },
  { weight: 4, arbitrary: replace },
  { weight: 2, arbitrary: cancel },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("again" as const), index: fc.nat(400) }) },
);

/** Up to `count` commands for an exchange whose next record is `firstSeq`: all kinds, small numbers, many encounters. */
export const randomCommands = (count: number, firstSeq: number): fc.Arbitrary<ClientCommand[]> =>
  fc.array(step, { minLength: 1, maxLength: count, size: "max" }).map((steps) => {
    const commands: ClientCommand[] = [];
    for (const next of steps) commands.push(resolve(next, commands, firstSeq + commands.length));
    return commands;
  });

const resolve = (next: Step, before: readonly ClientCommand[], seq: number): ClientCommand => {
  if (next.kind === "again")
    return before[next.index % Math.max(before.length, 1)] ?? { kind: "cancel", account: "", clientId: "c0" };
  if (next.kind === "cancel" || next.after === 0) return next;
  return { ...next, after: Math.max(1, seq - next.after) };
};
