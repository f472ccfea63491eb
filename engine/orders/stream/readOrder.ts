import type { PlaceOrder } from "../../journal/record.ts";
import { InvalidOrder, parseClientId } from "../parseOrder.ts";
import type { PlaceFrame } from "./protocol.ts";

/** The order of a frame. Throws {@link InvalidOrder}. */
export const readOrder = ({ clientId, side, type, price, quantity }: PlaceFrame): PlaceOrder => {
  readClientId(clientId);
  if (quantity === 0) throw new InvalidOrder("BAD_QUANTITY", "quantity must be at least one lot");
  if (type === "limit" && price === 0) throw new InvalidOrder("BAD_PRICE", "price must be at least one tick");
  if (type === "market" && price !== 0) throw new InvalidOrder("BAD_PRICE", "a market order takes any price: send 0");
  return {
    kind: "order",
    account: "",
    clientId,
    side,
    type,
    price,
    stopPrice: 0,
    quantity,
    timeInForce: "gtc",
    postOnly: false,
    selfTrade: "cancelNewest",
    after: 0,
  };
};

const longestClientId = 64;
/** 1 for each character that a client id may have, by its code. */
const allowed = new Uint8Array(256);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-")
  allowed[char.charCodeAt(0)] = 1;

/** Answers a good client id as it is. Throws {@link InvalidOrder}. */
export const readClientId = (clientId: string): string => {
  let good = clientId.length > 0 && clientId.length <= longestClientId ? 1 : 0;
  // A pattern takes several times as long, and this is done for every order.
  for (let index = 0; index < clientId.length; index += 1) good &= allowed[clientId.charCodeAt(index)] ?? 0;
  return good === 1 ? clientId : parseClientId(clientId);
};
