import {
  orderStatuses,
  orderTypes,
  type Reason,
  reasons,
  selfTradePreventions,
  sides,
  timesInForce,
} from "../../book/terms.ts";
import type { CancelOrder, PlaceOrder, ReplaceOrder, Request } from "../../journal/record.ts";
import {
  answerFlags,
  answerTypes,
  type CancelledFrame,
  type FoundFrame,
  type Goodbye,
  headerBytes,
  type Increments,
  MalformedFrame,
  type PlacedFrame,
  type ProblemFrame,
  problemCodes,
  requestTypes,
  type Welcome,
} from "./protocol.ts";

export type InvalidField = "BAD_SIDE" | "BAD_TYPE" | "BAD_TIME_IN_FORCE" | "BAD_SELF_TRADE";

/** What a client asks for; whether ids and numbers are good is for the engine to say. */
export type StreamRequest =
  | PlaceOrder
  | ReplaceOrder
  | CancelOrder
  | ({ readonly kind: "find" } & Request)
  /** A word that this release does not know; the stream itself is sound. */
  | { readonly kind: "invalid"; readonly code: InvalidField }
  | { readonly kind: "heartbeat" | "goodbye" };

/** What a server said. */
export type Answer =
  | { readonly type: "placed"; readonly correlation: number; readonly frame: PlacedFrame }
  | { readonly type: "found"; readonly correlation: number; readonly frame: FoundFrame }
  | { readonly type: "cancelled"; readonly correlation: number; readonly frame: CancelledFrame }
  | { readonly type: "problem"; readonly correlation: number; readonly frame: ProblemFrame }
  | { readonly type: "heartbeat"; readonly committed: number }
  | { readonly type: "welcome"; readonly welcome: Welcome }
  | { readonly type: "goodbye"; readonly goodbye: Goodbye };

/** Cuts a byte stream into frames, which stay in the memory they came in. */
export class FrameReader {
  readonly #maxBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #next = 0;
  /** Where the frame that {@link advance} found lies in {@link bytes}. */
  start = 0;
  end = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    const rest = this.#bytes.length - this.#next;
    // Copies no more than the beginning of a frame, but for a reader that is held back: that one was told to stop.
    this.#bytes = rest === 0 ? chunk : Buffer.concat([this.#bytes.subarray(this.#next), chunk]);
    this.#next = 0;
  }

  /** Goes to the next whole frame; false when there is none yet. Throws {@link MalformedFrame}. */
  advance(): boolean {
    const available = this.#bytes.length - this.#next;
    if (available < headerBytes) return false;
    const length = this.#bytes.readUInt32LE(this.#next);
    if (length < headerBytes || length > this.#maxBytes) throw new MalformedFrame(`${length} bytes long`);
    if (available < length) return false;
    this.start = this.#next;
    this.end = this.#next + length;
    this.#next = this.end;
    return true;
  }
}

/** The number that the client gave the frame at `start`. */
export const correlationAt = (bytes: Buffer, start: number): number => bytes.readUInt32LE(start + 8);

/** Decodes a client's frame. Throws {@link MalformedFrame}. */
export const readRequest = (bytes: Buffer, start: number, end: number): StreamRequest => {
  switch (bytes[start + 4]) {
    case requestTypes.place:
      return readPlace(bytes, start, end);
    case requestTypes.replace:
      return readReplace(bytes, start, end);
    case requestTypes.cancel:
      return { kind: "cancel", ...readIds(bytes, start, end) };
    case requestTypes.find:
      return { kind: "find", ...readIds(bytes, start, end) };
    case requestTypes.heartbeat:
      return { kind: "heartbeat" };
    case requestTypes.goodbye:
      return { kind: "goodbye" };
    default:
      throw new MalformedFrame(`type ${bytes[start + 4]}`);
  }
};

/** Decodes a server's frame. Throws {@link MalformedFrame}. */
export const readAnswer = (bytes: Buffer, start: number, end: number): Answer => {
  const correlation = correlationAt(bytes, start);
  switch (bytes[start + 4]) {
    case answerTypes.placed:
      return { type: "placed", correlation, frame: readPlaced(bytes, start, end, 40) };
    case answerTypes.found:
      return { type: "found", correlation, frame: readFound(bytes, start, end) };
    case answerTypes.cancelled:
      return { type: "cancelled", correlation, frame: readCancelled(bytes, start, end) };
    case answerTypes.problem:
      return { type: "problem", correlation, frame: readProblem(bytes, start, end) };
    case answerTypes.heartbeat:
      return { type: "heartbeat", committed: readInteger(bytes, start + 16, end) };
    case answerTypes.welcome:
      return { type: "welcome", welcome: readJson(bytes, start, end) as Welcome };
    case answerTypes.goodbye:
      return { type: "goodbye", goodbye: readJson(bytes, start, end) as Goodbye };
    default:
      throw new MalformedFrame(`type ${bytes[start + 4]}`);
  }
};

const readPlace = (bytes: Buffer, start: number, end: number): StreamRequest => {
  const accountAt = start + 48 + (bytes[start + 14] ?? 0);
  checkEnd(accountAt + (bytes[start + 15] ?? 0), end);
  const side = sides[bytes[start + 5] ?? 0];
  if (side === undefined) return { kind: "invalid", code: "BAD_SIDE" };
  const type = orderTypes[bytes[start + 6] ?? 0];
  if (type === undefined) return { kind: "invalid", code: "BAD_TYPE" };
  const timeInForce = timesInForce[bytes[start + 7] ?? 0];
  if (timeInForce === undefined) return { kind: "invalid", code: "BAD_TIME_IN_FORCE" };
  const selfTrade = selfTradePreventions[bytes[start + 13] ?? 0];
  if (selfTrade === undefined) return { kind: "invalid", code: "BAD_SELF_TRADE" };
  return {
    kind: "order",
    account: readText(bytes, accountAt, end),
    clientId: readText(bytes, start + 48, accountAt),
    side,
    type,
    price: readNumber(bytes, start + 16),
    stopPrice: readNumber(bytes, start + 24),
    quantity: readNumber(bytes, start + 32),
    timeInForce,
    postOnly: bytes[start + 12] !== 0,
    selfTrade,
    after: readNumber(bytes, start + 40),
  };
};

const readReplace = (bytes: Buffer, start: number, end: number): StreamRequest => {
  const accountAt = start + 48 + (bytes[start + 14] ?? 0);
  const targetAt = accountAt + (bytes[start + 15] ?? 0);
  checkEnd(targetAt + (bytes[start + 13] ?? 0), end);
  return {
    kind: "replace",
    account: readText(bytes, accountAt, targetAt),
    clientId: readText(bytes, start + 48, accountAt),
    target: readText(bytes, targetAt, end),
    price: readNumber(bytes, start + 16),
    stopPrice: readNumber(bytes, start + 24),
    quantity: readNumber(bytes, start + 32),
    after: readNumber(bytes, start + 40),
  };
};

const readIds = (bytes: Buffer, start: number, end: number): Request => {
  const accountAt = start + 16 + (bytes[start + 14] ?? 0);
  checkEnd(accountAt + (bytes[start + 15] ?? 0), end);
  return { account: readText(bytes, accountAt, end), clientId: readText(bytes, start + 16, accountAt) };
};

const checkEnd = (ends: number, end: number): void => {
  if (ends !== end) throw new MalformedFrame("the lengths of the ids do not add up");
};

const readText = (bytes: Buffer, from: number, to: number): string =>
  from === to ? "" : bytes.toString("latin1", from, to);

const readPlaced = (bytes: Buffer, start: number, end: number, tradesAt: number): PlacedFrame => {
  if (end - start < tradesAt) throw new MalformedFrame("an answer is too short");
  const flags = bytes[start + 7] ?? 0;
  const tradesEnd = start + tradesAt + 16 * bytes.readUInt32LE(start + 32);
  if (tradesEnd > end) throw new MalformedFrame("trades beyond the end");
  const trades = [];
  for (let at = start + tradesAt; at < tradesEnd; at += 8) trades.push(readInteger(bytes, at, end));
  return {
    status: oneOf(orderStatuses, bytes[start + 5]),
    reason: readReason(bytes[start + 6]),
    duplicate: (flags & answerFlags.duplicate) !== 0,
    epoch: bytes.readUInt32LE(start + 12),
    seq: readInteger(bytes, start + 16, end),
    filled: readInteger(bytes, start + 24, end),
    trades,
    increments: readIncrements(bytes, flags, tradesEnd, end),
  };
};

const readFound = (bytes: Buffer, start: number, end: number): FoundFrame => ({
  ...readPlaced(bytes, start, end, 56),
  now: {
    status: oneOf(orderStatuses, bytes[start + 36]),
    reason: readReason(bytes[start + 37]),
    filled: readInteger(bytes, start + 40, end),
    remaining: readInteger(bytes, start + 48, end),
  },
});

const readReason = (code: number | undefined): Reason | null =>
  code === undefined || code === 0 ? null : oneOf(reasons, code - 1);

const readCancelled = (bytes: Buffer, start: number, end: number): CancelledFrame => {
  if (end - start < 48) throw new MalformedFrame("an answer is too short");
  const flags = bytes[start + 7] ?? 0;
  return {
    duplicate: (flags & answerFlags.duplicate) !== 0,
    epoch: bytes.readUInt32LE(start + 12),
    seq: readInteger(bytes, start + 16, end),
    filled: readInteger(bytes, start + 24, end),
    orderSeq: readInteger(bytes, start + 32, end),
    orderEpoch: bytes.readUInt32LE(start + 40),
    increments: readIncrements(bytes, flags, start + 48, end),
  };
};

const readProblem = (bytes: Buffer, start: number, end: number): ProblemFrame => ({
  code: oneOf(problemCodes, bytes[start + 5]),
  detail: bytes.toString("utf8", start + headerBytes, end),
});

const oneOf = <T>(list: readonly T[], position: number | undefined): T => {
  const value = list[position ?? 0];
  if (value === undefined) throw new MalformedFrame(`value ${position} is not known`);
  return value;
};

const readIncrements = (bytes: Buffer, flags: number, at: number, end: number): Increments | null => {
  if ((flags & answerFlags.ownIncrements) === 0) return null;
  const lotAt = at + 1 + (bytes[at] ?? 0);
  const tickSize = bytes.toString("latin1", at + 1, lotAt);
  return { tickSize, lotSize: bytes.toString("latin1", lotAt + 1, Math.min(end, lotAt + 1 + (bytes[lotAt] ?? 0))) };
};

const bit32 = 0x1_0000_0000;

const readNumber = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at + 4) * bit32 + bytes.readUInt32LE(at);

const readInteger = (bytes: Buffer, at: number, end: number): number => {
  if (at + 8 > end) throw new MalformedFrame("a number is cut short");
  const value = readNumber(bytes, at);
  if (value > Number.MAX_SAFE_INTEGER) throw new MalformedFrame("a number beyond 2^53 - 1");
  return value;
};

const readJson = (bytes: Buffer, start: number, end: number): unknown => {
  try {
    return JSON.parse(bytes.toString("utf8", start + headerBytes, end));
  } catch {
    throw new MalformedFrame("not JSON");
  }
};
