import type { OrderStatus, Reason } from "../engine/book/terms.ts";
import { fromIncrements, type TradingRules, tradingRules } from "../engine/exchange/tradingRules.ts";
import type {
  CancelledFrame,
  FoundFrame,
  Increments,
  PlacedFrame,
  ProblemCode,
} from "../engine/orders/stream/protocol.ts";

export interface Trade {
  /** Unique for ever, and the same whenever this answer is given. */
  readonly tradeId: string;
  readonly price: string;
  readonly quantity: string;
}

/** Where an order stands after the last committed record. */
export interface OrderState {
  readonly status: OrderStatus;
  readonly reason: Reason | null;
  readonly filledQuantity: string;
  readonly remainingQuantity: string;
}

/** How a request ended. Decimals are strings in the increments of the answer's epoch. */
export type OrderResult =
  /** The order is in the history for ever, though its status may be `rejected`, and `reason` says why. */
  | {
      readonly kind: "placed";
      /** Place in history: no other order has it, on any replica, ever. */
      readonly epoch: number;
      readonly seq: number;
      readonly orderId: string;
      readonly status: OrderStatus;
      readonly reason: Reason | null;
      readonly filledQuantity: string;
      readonly trades: readonly Trade[];
      /** The engine had this order already, from an earlier attempt or call: this is its first answer again. */
      readonly duplicate: boolean;
      /** Only in the answer to `find`. */
      readonly now: OrderState | null;
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

export const placedResult = (frame: PlacedFrame | FoundFrame, streamSizes: Sizes): OrderResult => {
  const { epoch, seq, status, reason, duplicate } = frame;
  const { tick, lot } = frame.increments === null ? streamSizes : sizesOf(frame.increments);
  const trades: Trade[] = [];
  for (let at = 0; at < frame.trades.length; at += 2) {
    trades.push({
      tradeId: `${seq}-${at / 2 + 1}`,
      price: fromIncrements(frame.trades[at] ?? 0, tick),
      quantity: fromIncrements(frame.trades[at + 1] ?? 0, lot),
    });
  }
  const now = "now" in frame ? stateOf(frame.now, lot) : null;
  const filledQuantity = fromIncrements(frame.filled, lot);
  const orderId = `${epoch}-${seq}`;
  return { kind: "placed", epoch, seq, orderId, status, reason, filledQuantity, trades, duplicate, now };
};

const stateOf = (now: FoundFrame["now"], lot: Sizes["lot"]): OrderState => ({
  status: now.status,
  reason: now.reason,
  filledQuantity: fromIncrements(now.filled, lot),
  remainingQuantity: fromIncrements(now.remaining, lot),
});

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
