/** The words of the order book. Where a list is `as const`, a word's place in it is its code in journal and snapshot. */

export const sides = ["buy", "sell"] as const;
export type Side = (typeof sides)[number];

/**
 * `stop` waits for a trade at its stop price, or beyond it, and then takes any price; `stopLimit` becomes a limit order then.
 * Beyond is above for a buy order and below for a sell order.
 */
export const orderTypes = ["limit", "market", "stop", "stopLimit"] as const;
export type OrderType = (typeof orderTypes)[number];

/** Good till cancelled; immediate or cancel (what does not trade at once is cancelled); fill or kill (trades as a whole or not at all). */
export const timesInForce = ["gtc", "ioc", "fok"] as const;
export type TimeInForce = (typeof timesInForce)[number];

/**
 * What an incoming order does when it meets a resting one of its own account, instead of a trade. `decrementBoth` takes
 * the smaller quantity off both, so that the smaller order is cancelled.
 */
export const selfTradePreventions = ["cancelNewest", "cancelOldest", "cancelBoth", "decrementBoth"] as const;
export type SelfTradePrevention = (typeof selfTradePreventions)[number];

/** What an order asks for, in whole ticks and lots. */
export interface OrderTerms {
  readonly side: Side;
  readonly type: OrderType;
  /** Worst acceptable price; 0 where the type takes any price. */
  readonly price: number;
  /** 0 for a type that does not wait. */
  readonly stopPrice: number;
  readonly quantity: number;
  readonly timeInForce: TimeInForce;
  /** Refused instead of trading at once: for a limit order that is good till cancelled. */
  readonly postOnly: boolean;
  readonly selfTrade: SelfTradePrevention;
}

/** `untriggered` waits for its stop price. The last three are final. */
export const orderStatuses = ["untriggered", "resting", "partiallyFilled", "filled", "cancelled", "rejected"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/**
 * Why an order was refused, or what was left of it is gone. Stable: clients decide by these, and new ones are added at the end.
 */
export const reasons = [
  // What is wrong with the order itself. Such an order is not even remembered by its client id.
  "BAD_CLIENT_ID",
  "BAD_ACCOUNT",
  "BAD_PRICE",
  "BAD_STOP_PRICE",
  "BAD_QUANTITY",
  "BAD_POST_ONLY",
  "BAD_AFTER",
  /** The client id is so old that it may have been used and forgotten. */
  "CLIENT_ID_EXPIRED",
  /** A post-only order would have traded. */
  "WOULD_CROSS",
  /** The sum of a price's quantities would not be an exact integer any more. */
  "LEVEL_OVERFLOW",
  /** No order has the client id that was to be replaced. */
  "NOT_FOUND",
  /** Nothing is left of the order that was to be replaced. */
  "ORDER_FINAL",
  /** The order that was to be replaced has traded the new quantity or more. */
  "QUANTITY_FILLED",
  // Why an order was cancelled.
  "REQUESTED",
  "REPLACED",
  "SELF_TRADE",
  /** A market order took all there was. */
  "NO_LIQUIDITY",
  "IMMEDIATE_OR_CANCEL",
  "FILL_OR_KILL",
  /** A new epoch trades in increments in which the order is not whole. */
  "INCREMENTS",
] as const;
export type Reason = (typeof reasons)[number];

export const isStop = (type: OrderType): boolean => type === "stop" || type === "stopLimit";

/** Whether an order of this type has a worst acceptable price. */
export const hasLimit = (type: OrderType): boolean => type === "limit" || type === "stopLimit";
