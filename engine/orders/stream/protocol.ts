import type { OrderStatus, Reason } from "../../book/terms.ts";

/**
 * The order stream, version 1, as data; docs/reference/order-entry.md describes it for other languages. Integers are
 * little endian, u64 at most 2^53 - 1. Every frame begins with
 *
 *     0 u32 length of the whole frame    4 u8 type    8 u32 correlation
 *
 * Words of the book (sides, types, statuses, reasons) travel as their places in the lists of book/terms.ts, reasons
 * plus 1. The correlation is the client's own number for a request, and returns with its answer; it is 0 in frames that
 * answer nothing. Bytes that no layout names are 0.
 */
export const protocolName = "enginekeeper-orders/1";
export const streamPath = "/v1/orders/stream";

/** Types are part of the protocol: a number is never given to another frame. */
export const requestTypes = { place: 1, cancel: 2, find: 3, replace: 4, heartbeat: 5, goodbye: 6 } as const;
export const answerTypes = {
  placed: 65,
  cancelled: 66,
  problem: 67,
  heartbeat: 68,
  goodbye: 69,
  welcome: 70,
  found: 71,
} as const;

export const headerBytes = 12;
/** Longest frame that a server reads. */
export const maxRequestBytes = 512;
/** Longest frame that a client reads: an order with a million trades fits. */
export const maxAnswerBytes = 32 * 1024 * 1024;

/** Why a request was not done, or is not known to be done. Positions are part of the protocol: only ever append. */
export const problemCodes = [
  "BAD_REQUEST",
  "BAD_CLIENT_ID",
  "BAD_TYPE",
  "BAD_SIDE",
  "BAD_PRICE",
  "BAD_QUANTITY",
  "CLIENT_ID_REUSED",
  "NOT_FOUND",
  "ORDER_FINAL",
  "CANNOT_COMMIT",
  "CANCEL_ONLY",
  "UNKNOWN",
  "BAD_ACCOUNT",
  "BAD_STOP_PRICE",
  "BAD_TIME_IN_FORCE",
  "BAD_POST_ONLY",
  "BAD_SELF_TRADE",
  "BAD_AFTER",
  "UNKNOWN_SYMBOL",
] as const;

export type ProblemCode = (typeof problemCodes)[number];

/** Bits of an answer's flags. */
export const answerFlags = { duplicate: 1, ownIncrements: 2 } as const;

/** Sizes of a tick and a lot, as decimals. */
export interface Increments {
  readonly tickSize: string;
  readonly lotSize: string;
}

/** An order's first answer. `increments` is null when they are those of the stream's welcome. */
export interface PlacedFrame {
  readonly status: OrderStatus;
  readonly reason: Reason | null;
  readonly duplicate: boolean;
  readonly epoch: number;
  readonly seq: number;
  readonly filled: number;
  /** Price and quantity of each trade, one after the other. */
  readonly trades: readonly number[];
  readonly increments: Increments | null;
}

/** An order's first answer, and where it stands now. */
export interface FoundFrame extends PlacedFrame {
  readonly now: {
    readonly status: OrderStatus;
    readonly reason: Reason | null;
    readonly filled: number;
    readonly remaining: number;
  };
}

/** A cancellation's result: its own place in history, and that of the order. */
export interface CancelledFrame {
  readonly duplicate: boolean;
  readonly epoch: number;
  readonly seq: number;
  readonly filled: number;
  readonly orderEpoch: number;
  readonly orderSeq: number;
  readonly increments: Increments | null;
}

export interface ProblemFrame {
  readonly code: ProblemCode;
  readonly detail: string;
}

/** First frame of a server, once its epoch is committed: what holds for this stream, which is of one epoch. */
export interface Welcome extends Increments {
  readonly instance: string;
  readonly epoch: number;
  readonly tradingPair: string;
  /** Last committed record. */
  readonly committed: number;
  /** Requests of this stream that the server has in hand at a time; it reads no further ones meanwhile. */
  readonly window: number;
  /** How often each side speaks at least. */
  readonly heartbeatMs: number;
  /** A client that is silent for longer is let go. */
  readonly silenceMs: number;
}

/** Nothing is taken on this stream any more; answers to what was taken before may follow, then it closes. */
export interface Goodbye {
  readonly code: "NOT_PRIMARY" | "DRAINING" | "SHUTTING_DOWN" | "MALFORMED" | "SILENT" | "BYE";
  readonly detail: string;
  readonly leader: { readonly instance: string; readonly orders: string } | null;
}

/** The peer does not speak this protocol. */
export class MalformedFrame extends Error {
  constructor(detail: string) {
    super(`malformed frame: ${detail}`);
    this.name = "MalformedFrame";
  }
}
