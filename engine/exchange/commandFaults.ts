import { hasLimit, isStop, type OrderTerms, type Reason } from "../book/terms.ts";
import type { NewOrderRequest, PlaceOrder, ReplaceOrder } from "../journal/record.ts";

const clientIdPattern = /^[A-Za-z0-9._:-]{1,64}$/;
const accountPattern = /^[A-Za-z0-9._:-]{0,64}$/;

export const isClientId = (text: string): boolean => clientIdPattern.test(text);

export const isAccount = (text: string): boolean => accountPattern.test(text);

/** What is wrong with the command itself, whatever the state of the book; null when nothing is. */
export const faultOf = (command: PlaceOrder | ReplaceOrder): Reason | null =>
  requestFault(command) ?? (command.kind === "order" ? faultOfTerms(command) : replacementFault(command));

/** What is wrong with an order's terms in themselves. */
export const faultOfTerms = ({
  type,
  price,
  stopPrice,
  quantity,
  timeInForce,
  postOnly,
}: OrderTerms): Reason | null => {
  if (!isPositive(quantity)) return "BAD_QUANTITY";
  if (hasLimit(type) ? !isPositive(price) : price !== 0) return "BAD_PRICE";
  if (isStop(type) ? !isPositive(stopPrice) : stopPrice !== 0) return "BAD_STOP_PRICE";
  if (postOnly && (type !== "limit" || timeInForce !== "gtc")) return "BAD_POST_ONLY";
  return null;
};

const requestFault = ({ account, clientId, after }: NewOrderRequest): Reason | null => {
  if (!isClientId(clientId)) return "BAD_CLIENT_ID";
  if (!isAccount(account)) return "BAD_ACCOUNT";
  return isCount(after) ? null : "BAD_AFTER";
};

const replacementFault = ({ target, price, stopPrice, quantity }: ReplaceOrder): Reason | null => {
  if (!isClientId(target)) return "BAD_CLIENT_ID";
  if (!isCount(quantity)) return "BAD_QUANTITY";
  if (!isCount(price)) return "BAD_PRICE";
  return isCount(stopPrice) ? null : "BAD_STOP_PRICE";
};

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

const isPositive = (value: number): boolean => isCount(value) && value > 0;
