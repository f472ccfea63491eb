import type { Order } from "../book/order.ts";
import type { OrderTerms, Reason } from "../book/terms.ts";
import type { ReplaceOrder } from "../journal/record.ts";

/** What a replacement comes to: terms and open quantity of the new order, or why there is none. */
export type Replacement =
  | {
      readonly kind: "possible";
      readonly target: Order;
      readonly terms: OrderTerms;
      readonly remaining: number;
    }
  | { readonly kind: "refused"; readonly terms: OrderTerms; readonly reason: Reason };

/** Of a replacement that has nothing to replace; they mean nothing. */
export const noTerms: OrderTerms = {
  side: "buy",
  type: "limit",
  price: 0,
  stopPrice: 0,
  quantity: 0,
  timeInForce: "gtc",
  postOnly: false,
  selfTrade: "cancelNewest",
};

export const replacementFor = (target: Order | undefined, request: ReplaceOrder): Replacement => {
  if (target === undefined) return { kind: "refused", terms: noTerms, reason: "NOT_FOUND" };
  const refused = (reason: Reason): Replacement => ({ kind: "refused", terms: target.terms, reason });
  if (!target.isOpen) return refused("ORDER_FINAL");
  const old = target.terms;
  const waits = target.status === "untriggered";
  // A stop that was triggered is an order like any other: its replacement must not wait again.
  const type = waits ? old.type : "limit";
  if (type === "stop" && request.price !== 0) return refused("BAD_PRICE");
  if (!waits && request.stopPrice !== 0) return refused("BAD_STOP_PRICE");
  const remaining = request.quantity === 0 ? target.remaining : request.quantity - target.filled;
  if (remaining <= 0) return refused("QUANTITY_FILLED");
  const terms: OrderTerms = {
    side: old.side,
    type,
    price: request.price || old.price,
    stopPrice: waits ? request.stopPrice || old.stopPrice : 0,
    quantity: request.quantity || old.quantity,
    timeInForce: old.timeInForce,
    postOnly: old.postOnly,
    selfTrade: old.selfTrade,
  };
  return { kind: "possible", target, terms, remaining };
};
