import { type TradingRules, toIncrements } from "../exchange/tradingRules.ts";
import type { PlaceOrder } from "../journal/record.ts";

/** An order that cannot be taken as it is; the code is stable. */
export class InvalidOrder extends Error {
  readonly code: "BAD_REQUEST" | "BAD_CLIENT_ID" | "BAD_TYPE" | "BAD_SIDE" | "BAD_PRICE" | "BAD_QUANTITY";

  constructor(code: InvalidOrder["code"], detail: string) {
    super(detail);
    this.name = "InvalidOrder";
    this.code = code;
  }
}

const clientIdPattern = /^[A-Za-z0-9._:-]{1,64}$/;

/** Throws {@link InvalidOrder}. */
export const parseClientId = (value: unknown): string => {
  if (typeof value === "string" && clientIdPattern.test(value)) return value;
  throw new InvalidOrder("BAD_CLIENT_ID", "clientId must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -");
};

/** Reads the JSON body of a new order. Throws {@link InvalidOrder}. */
export const parseOrder = (text: string, rules: TradingRules): PlaceOrder => {
  const { clientId: id, type, side, price, quantity } = parseObject(text);
  const clientId = parseClientId(id);
  if (side !== "buy" && side !== "sell") throw new InvalidOrder("BAD_SIDE", 'side must be "buy" or "sell"');
  if (type !== "limit" && type !== "market") {
    throw new InvalidOrder("BAD_TYPE", 'type must be "limit" or "market"');
  }
  const lots = typeof quantity === "string" ? toIncrements(quantity, rules.lot) : null;
  if (lots === null) {
    throw new InvalidOrder(
      "BAD_QUANTITY",
      `quantity must be a decimal string, a positive multiple of ${rules.lotSize}`,
    );
  }
  return { kind: "order", clientId, side, type, price: parsePrice(type, price, rules), quantity: lots };
};

const parsePrice = (type: "limit" | "market", price: unknown, rules: TradingRules): number => {
  if (type === "market") {
    if (price === undefined) return 0;
    throw new InvalidOrder("BAD_PRICE", "a market order takes any price: leave price out");
  }
  const ticks = typeof price === "string" ? toIncrements(price, rules.tick) : null;
  if (ticks !== null) return ticks;
  throw new InvalidOrder("BAD_PRICE", `price must be a decimal string, a positive multiple of ${rules.tickSize}`);
};

interface OrderBody {
  readonly clientId?: unknown;
  readonly type?: unknown;
  readonly side?: unknown;
  readonly price?: unknown;
  readonly quantity?: unknown;
}

const parseObject = (text: string): OrderBody => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidOrder("BAD_REQUEST", "the body is not JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new InvalidOrder("BAD_REQUEST", "the body must be a JSON object");
};
