import { fromIncrements, type TradingRules, tradingRules } from "../engine/exchange/tradingRules.ts";
import type {
  CancelledFrame,
  Increments,
  orderStatuses,
  PlacedFrame,
  ProblemCode,
} from "../engine/orders/stream/protocol.ts";

export interface Trade {
  /** Unique for ever, and the same whenever this answer is given. */
  readonly tradeId: string;
  readonly price: string;
  readonly quantity: string;
}

/** How a request ended. Decimals are strings in the increments of the answer's epoch. */
export type OrderResult =
  | {
      readonly kind: "placed";
      /** Place in history: no other order has it, on any replica, ever. */
      readonly epoch: number;
      readonly seq: number;
      readonly orderId: string;
      readonly status: (typeof orderStatuses)[number];
      readonly filledQuantity: string;
      readonly trades: readonly Trade[];
      /** The engine had this order already, from an earlier attempt or call: this is its first answer again. */
      readonly duplicate: boolean;
    }
  | {
      readonly kind: "cancelled";
      readonly epoch: number;
      readonly seq: number;
      readonly orderId: string;
      readonly filledQuantity: string;
      readonly duplicate: boolean;
    }
  /** Certainly not done. */
  | { readonly kind: "refused"; readonly code: RefusalCode; readonly detail: string }
  /** The deadline passed, or the client was closed, while it was not known: it may be done or not. Ask with `find`, or ask again. */
  | { readonly kind: "unresolved"; readonly detail: string };

/** The engine's codes, and two of the client: nothing was sent, or too much waits already. */
export type RefusalCode = Exclude<ProblemCode, "UNKNOWN"> | "NOT_SENT" | "TOO_MANY";

/** Sizes of a tick and a lot, ready to compute with. */
export type Sizes = Pick<TradingRules, "tick" | "lot">;

export const sizesOf = ({ tickSize, lotSize }: Increments): Sizes => tradingRules("", tickSize, lotSize);

export const placedResult = (frame: PlacedFrame, streamSizes: Sizes): OrderResult => {
  const { epoch, seq, status, duplicate } = frame;
  const { tick, lot } = frame.increments === null ? streamSizes : sizesOf(frame.increments);
  const trades = frame.fills.map(({ price, quantity }, index) => ({
    tradeId: `${seq}-${index + 1}`,
    price: fromIncrements(price, tick),
    quantity: fromIncrements(quantity, lot),
  }));
  const filledQuantity = fromIncrements(frame.filled, lot);
  return { kind: "placed", epoch, seq, orderId: `${epoch}-${seq}`, status, filledQuantity, trades, duplicate };
};

export const cancelledResult = (frame: CancelledFrame, streamSizes: Sizes): OrderResult => {
  const { lot } = frame.increments === null ? streamSizes : sizesOf(frame.increments);
  return {
    kind: "cancelled",
    epoch: frame.epoch,
    seq: frame.seq,
    orderId: `${frame.orderEpoch}-${frame.orderSeq}`,
    filledQuantity: fromIncrements(frame.filled, lot),
    duplicate: frame.duplicate,
  };
};
