import type { Effect } from "./effect.ts";
import type { Order } from "./order.ts";
import type { Reason } from "./terms.ts";

/** Makes an order final that is not in the book, or not any more. */
export const end = (
  order: Order,
  status: "filled" | "cancelled" | "rejected",
  reason: Reason | null,
  effect: Effect,
): void => {
  order.status = status;
  order.reason = reason;
  order.remaining = 0;
  effect.addEnded(order);
};

/** Refuses a new order and says so. */
export const refuse = (order: Order, reason: Reason, effect: Effect): void => {
  end(order, "rejected", reason, effect);
  order.giveAnswer();
};
