import type { Order } from "../book/order.ts";
import type { PlaceOrder, ReplaceOrder } from "../journal/record.ts";
import { convertIncrements, type TradingRules } from "./tradingRules.ts";

/**
 * Whether `request`, in the increments of `rules`, asks for what `order` was placed for. Its `after` may differ: it says
 * something about the client and not about the order.
 */
export const isSameRequest = (order: Order, request: PlaceOrder | ReplaceOrder, rules: TradingRules): boolean => {
  const original = order.request;
  return sameWords(original, request) && sameNumbers(original, order.rules, request, rules);
};

/** The same for two requests in the same increments. */
export const asksTheSame = (one: PlaceOrder | ReplaceOrder, other: PlaceOrder | ReplaceOrder): boolean =>
  sameWords(one, other) &&
  one.price === other.price &&
  one.stopPrice === other.stopPrice &&
  one.quantity === other.quantity;

const sameWords = (one: PlaceOrder | ReplaceOrder, other: PlaceOrder | ReplaceOrder): boolean => {
  if (one.kind === "replace") return other.kind === "replace" && one.target === other.target;
  return (
    other.kind === "order" &&
    one.side === other.side &&
    one.type === other.type &&
    one.timeInForce === other.timeInForce &&
    one.postOnly === other.postOnly &&
    one.selfTrade === other.selfTrade
  );
};

const sameNumbers = (
  one: PlaceOrder | ReplaceOrder,
  oneRules: TradingRules,
  other: PlaceOrder | ReplaceOrder,
  rules: TradingRules,
): boolean =>
  convertIncrements(one.price, oneRules.tick, rules.tick) === other.price &&
  convertIncrements(one.stopPrice, oneRules.tick, rules.tick) === other.stopPrice &&
  convertIncrements(one.quantity, oneRules.lot, rules.lot) === other.quantity;
