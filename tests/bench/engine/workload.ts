import { seededRandom } from "../../orders/seededRandom.ts";

/** What both books are asked to do. Prices are whole ticks, quantities whole lots. */
export type Operation =
  | {
      readonly kind: "limit";
      readonly id: string;
      readonly side: "buy" | "sell";
      readonly price: number;
      readonly quantity: number;
    }
  | { readonly kind: "market"; readonly id: string; readonly side: "buy" | "sell"; readonly quantity: number }
  | { readonly kind: "cancel"; readonly id: string };

const middle = 100_000;
/** Orders that a cancellation may pick: the latest so many. */
const cancellable = 20_000;

/**
 * A day's mix: half limit orders, most of them near the middle and a few that cross it, 45 % cancellations, 5 % market orders. About
 * 400 levels a side come to hold orders. The same seed gives the same operations.
 */
export const mixedWorkload = (count: number, seed: number): Operation[] => {
  const random = seededRandom(seed);
  const upTo = (limit: number): number => Math.floor(random() * limit);
  const operations: Operation[] = [];
  let placed = 0;
  while (operations.length < count) {
    const draw = random();
    if (draw < 0.45 && placed > 0) {
      operations.push({ kind: "cancel", id: idOf(placed - 1 - upTo(Math.min(placed, cancellable))) });
      continue;
    }
    const id = idOf(placed);
    const side = random() < 0.5 ? "buy" : "sell";
    const quantity = 1 + upTo(20);
    placed += 1;
    if (draw > 0.95) {
      operations.push({ kind: "market", id, side, quantity });
      continue;
    }
    const distance = Math.floor(random() * random() * 400) - 2;
    operations.push({ kind: "limit", id, side, price: middle + (side === "buy" ? -distance : distance), quantity });
  }
  return operations;
};

/** `count` sell orders of one lot at one price. */
export const oneLevel = (count: number): Operation[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: "limit",
    id: idOf(index),
    side: "sell",
    price: middle,
    quantity: 1,
  }));

const idOf = (index: number): string => `order-${index}`;
