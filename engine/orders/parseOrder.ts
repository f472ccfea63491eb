import {
  hasLimit,
  isStop,
  type OrderType,
  orderTypes,
  type SelfTradePrevention,
  selfTradePreventions,
  sides,
  timesInForce,
} from "../book/terms.ts";
import { faultOfTerms, isAccount, isClientId } from "../exchange/commandFaults.ts";
import { type Increment, type TradingRules, toIncrements } from "../exchange/tradingRules.ts";
import type { PlaceOrder, ReplaceOrder } from "../journal/record.ts";

/** An order that cannot be taken as it is; the code is stable. */
export class InvalidOrder extends Error {
  readonly code: InvalidOrderCode;

  constructor(code: InvalidOrderCode, detail: string) {
    super(detail);
    this.name = "InvalidOrder";
    this.code = code;
  }
}

export type InvalidOrderCode =
  | "BAD_REQUEST"
  | "BAD_CLIENT_ID"
  | "BAD_ACCOUNT"
  | "BAD_TYPE"
  | "BAD_SIDE"
  | "BAD_PRICE"
  | "BAD_STOP_PRICE"
  | "BAD_QUANTITY"
  | "BAD_TIME_IN_FORCE"
  | "BAD_POST_ONLY"
  | "BAD_SELF_TRADE"
  | "BAD_AFTER"
  | "UNKNOWN_SYMBOL";

const idCharacters = "characters A-Z a-z 0-9 . _ : -";

/** Throws {@link InvalidOrder}. */
export const parseClientId = (value: unknown): string => {
  if (typeof value === "string" && isClientId(value)) return value;
  throw new InvalidOrder("BAD_CLIENT_ID", `clientId must be 1 to 64 of the ${idCharacters}`);
};

/** The account; "" when none is named. Throws {@link InvalidOrder}. */
export const parseAccount = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "string" && isAccount(value)) return value;
  throw new InvalidOrder("BAD_ACCOUNT", `account must be up to 64 of the ${idCharacters}`);
};

/** Reads the JSON body of a new order. Throws {@link InvalidOrder}. */
export const parseOrder = (text: string, rules: TradingRules): PlaceOrder => {
  const body = parseObject(text);
  checkSymbol(body["symbol"], rules);
  const type = oneOf(orderTypes, body["type"], "BAD_TYPE", "type");
  const order: PlaceOrder = {
    kind: "order",
    account: parseAccount(body["account"]),
    clientId: parseClientId(body["clientId"]),
    side: oneOf(sides, body["side"], "BAD_SIDE", "side"),
    type,
    price: parsePrice(type, body["price"], rules),
    stopPrice: parseStopPrice(type, body["stopPrice"], rules),
    quantity: parseQuantity(body["quantity"], rules),
    timeInForce: oneOf(timesInForce, body["timeInForce"] ?? "gtc", "BAD_TIME_IN_FORCE", "timeInForce"),
    postOnly: parsePostOnly(body["postOnly"]),
    selfTrade: parseSelfTrade(body["selfTrade"]),
    after: parseAfter(body["after"]),
  };
  if (faultOfTerms(order) === "BAD_POST_ONLY") {
    throw new InvalidOrder("BAD_POST_ONLY", "only a limit order that is good till cancelled can be post-only");
  }
  return order;
};

/** Reads the JSON body that replaces the order `target`; what it leaves out stays as it is. Throws {@link InvalidOrder}. */
export const parseReplace = (text: string, target: string, rules: TradingRules): ReplaceOrder => {
  const body = parseObject(text);
  checkSymbol(body["symbol"], rules);
  const { price, stopPrice, quantity } = body;
  if (price === undefined && stopPrice === undefined && quantity === undefined) {
    throw new InvalidOrder("BAD_REQUEST", "name at least one of price, stopPrice and quantity");
  }
  return {
    kind: "replace",
    account: parseAccount(body["account"]),
    clientId: parseClientId(body["clientId"]),
    target,
    price: price === undefined ? 0 : ticks("BAD_PRICE", "price", price, rules),
    stopPrice: stopPrice === undefined ? 0 : ticks("BAD_STOP_PRICE", "stopPrice", stopPrice, rules),
    quantity: quantity === undefined ? 0 : parseQuantity(quantity, rules),
    after: parseAfter(body["after"]),
  };
};

const checkSymbol = (symbol: unknown, { tradingPair }: TradingRules): void => {
  if (symbol === undefined || symbol === tradingPair) return;
  throw new InvalidOrder("UNKNOWN_SYMBOL", `this engine trades ${tradingPair} and nothing else`);
};

const parsePrice = (type: OrderType, price: unknown, rules: TradingRules): number => {
  if (hasLimit(type)) return ticks("BAD_PRICE", "price", price, rules);
  if (price === undefined) return 0;
  throw new InvalidOrder("BAD_PRICE", `a ${type} order takes any price: leave price out`);
};

const parseStopPrice = (type: OrderType, stopPrice: unknown, rules: TradingRules): number => {
  if (isStop(type)) return ticks("BAD_STOP_PRICE", "stopPrice", stopPrice, rules);
  if (stopPrice === undefined) return 0;
  throw new InvalidOrder("BAD_STOP_PRICE", `a ${type} order does not wait: leave stopPrice out`);
};

const parseQuantity = (quantity: unknown, { lot, lotSize }: TradingRules): number =>
  increments("BAD_QUANTITY", "quantity", quantity, lot, lotSize);

const ticks = (code: InvalidOrderCode, name: string, value: unknown, { tick, tickSize }: TradingRules): number =>
  increments(code, name, value, tick, tickSize);

const increments = (
  code: InvalidOrderCode,
  name: string,
  value: unknown,
  size: Increment,
  sizeText: string,
): number => {
  const count = typeof value === "string" ? toIncrements(value, size) : null;
  if (count !== null) return count;
  throw new InvalidOrder(code, `${name} must be a decimal string, a positive multiple of ${sizeText}`);
};

const parsePostOnly = (value: unknown): boolean => {
  if (value === undefined || typeof value === "boolean") return value ?? false;
  throw new InvalidOrder("BAD_POST_ONLY", "postOnly must be true or false");
};

const parseSelfTrade = (value: unknown): SelfTradePrevention =>
  oneOf(selfTradePreventions, value ?? "cancelNewest", "BAD_SELF_TRADE", "selfTrade");

const parseAfter = (value: unknown): number => {
  if (value === undefined) return 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidOrder("BAD_AFTER", "after must be a sequence number that the client has seen");
};

const oneOf = <Word extends string>(
  words: readonly Word[],
  value: unknown,
  code: InvalidOrderCode,
  name: string,
): Word => {
  const word = words.find((each) => each === value);
  if (word !== undefined) return word;
  throw new InvalidOrder(code, `${name} must be one of ${words.join(", ")}`);
};

const parseObject = (text: string): Readonly<Record<string, unknown>> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidOrder("BAD_REQUEST", "the body is not JSON");
  }
  // The caller reads own properties by name: what is inherited is not the client's.
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { __proto__: null, ...value };
  throw new InvalidOrder("BAD_REQUEST", "the body must be a JSON object");
};
