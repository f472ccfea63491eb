import { hasLimit, type OrderTerms } from "./terms.ts";

/** Whether an order with these terms trades at `price`. */
export const accepts = ({ type, side, price: limit }: OrderTerms, price: number): boolean => {
  if (!hasLimit(type)) return true;
  return side === "buy" ? price <= limit : price >= limit;
};
