import { accepts } from "./limit.ts";
import { isOwn, type Order } from "./order.ts";
import type { PriceLadder } from "./priceLadder.ts";

/**
 * Whether `order` would trade as a whole against `opposite`, with its self-trade prevention at work: only `cancelOldest` gets
 * past an order of the same account. Found out before anything is done, since a fill-or-kill order must not trade in part.
 */
export const isFillable = (order: Order, opposite: PriceLadder): boolean =>
  holdsEnough(order, opposite) && (order.account.name === "" || foreignOrdersHoldEnough(order, opposite));

/** A quick look at the levels' sums: it refuses the absurdly large before their orders are gone through. */
const holdsEnough = (order: Order, opposite: PriceLadder): boolean => {
  let missing = order.remaining;
  for (const level of opposite.levels()) {
    if (!accepts(order.terms, level.price)) return false;
    missing -= level.quantity;
    if (missing <= 0) return true;
  }
  return false;
};

const foreignOrdersHoldEnough = (order: Order, opposite: PriceLadder): boolean => {
  let missing = order.remaining;
  for (const level of opposite.levels()) {
    if (!accepts(order.terms, level.price)) return false;
    for (const maker of level.orders()) {
      if (!isOwn(maker, order)) missing -= maker.remaining;
      else if (order.terms.selfTrade !== "cancelOldest") return false;
      if (missing <= 0) return true;
    }
  }
  return false;
};
