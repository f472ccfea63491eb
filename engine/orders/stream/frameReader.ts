import {
  answerFlags,
  answerTypes,
  type CancelledFrame,
  type Goodbye,
  headerBytes,
  type Increments,
  MalformedFrame,
  orderStatuses,
  orderTypes,
  type PlacedFrame,
  type PlaceFrame,
  type ProblemFrame,
  problemCodes,
  requestTypes,
  sides,
  type Welcome,
} from "./protocol.ts";

export type InvalidField = "BAD_SIDE" | "BAD_TYPE" | "BAD_PRICE" | "BAD_QUANTITY";

/** What a client said. */
export type Request =
  | { readonly type: "place"; readonly correlation: number; readonly order: PlaceFrame }
  | { readonly type: "cancel" | "find"; readonly correlation: number; readonly clientId: string }
  /** A field has a value that cannot be; the stream itself is sound. */
  | { readonly type: "invalid"; readonly correlation: number; readonly code: InvalidField }
  | { readonly type: "heartbeat" | "goodbye" };

/** What a server said. */
export type Answer =
  | { readonly type: "placed"; readonly correlation: number; readonly frame: PlacedFrame }
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

/** Decodes a client's frame. Throws {@link MalformedFrame}. */
export const readRequest = (bytes: Buffer, start: number, end: number): Request => {
  const correlation = bytes.readUInt32LE(start + 8);
  switch (bytes[start + 4]) {
    case requestTypes.place:
      return readPlace(bytes, start, end, correlation);
    case requestTypes.cancel:
      return { type: "cancel", correlation, clientId: readClientId(bytes, start, start + 16, end) };
    case requestTypes.find:
      return { type: "find", correlation, clientId: readClientId(bytes, start, start + 16, end) };
    case requestTypes.heartbeat:
      return { type: "heartbeat" };
    case requestTypes.goodbye:
      return { type: "goodbye" };
    default:
      throw new MalformedFrame(`type ${bytes[start + 4]}`);
  }
};

/** Decodes a server's frame. Throws {@link MalformedFrame}. */
export const readAnswer = (bytes: Buffer, start: number, end: number): Answer => {
  const correlation = bytes.readUInt32LE(start + 8);
  switch (bytes[start + 4]) {
    case answerTypes.placed:
      return { type: "placed", correlation, frame: readPlaced(bytes, start, end) };
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

const readPlace = (bytes: Buffer, start: number, end: number, correlation: number): Request => {
  const clientId = readClientId(bytes, start, start + 48, end);
  const side = sides[bytes[start + 5] ?? 0];
  if (side === undefined) return { type: "invalid", correlation, code: "BAD_SIDE" };
  const type = orderTypes[bytes[start + 6] ?? 0];
  if (type === undefined) return { type: "invalid", correlation, code: "BAD_TYPE" };
  const price = readNumber(bytes, start + 16);
  if (price > Number.MAX_SAFE_INTEGER) return { type: "invalid", correlation, code: "BAD_PRICE" };
  const quantity = readNumber(bytes, start + 32);
  if (quantity > Number.MAX_SAFE_INTEGER) return { type: "invalid", correlation, code: "BAD_QUANTITY" };
  return { type: "place", correlation, order: { clientId, side, type, price, quantity } };
};

const readPlaced = (bytes: Buffer, start: number, end: number): PlacedFrame => {
  if (end - start < 40) throw new MalformedFrame("an answer is too short");
  const flags = bytes[start + 6] ?? 0;
  const fillCount = bytes.readUInt32LE(start + 32);
  const fillsEnd = start + 40 + 16 * fillCount;
  if (fillsEnd > end) throw new MalformedFrame("trades beyond the end");
  const fills = [];
  for (let at = start + 40; at < fillsEnd; at += 16) {
    fills.push({ price: readInteger(bytes, at, end), quantity: readInteger(bytes, at + 8, end) });
  }
  return {
    status: oneOf(orderStatuses, bytes[start + 5]),
    duplicate: (flags & answerFlags.duplicate) !== 0,
    epoch: bytes.readUInt32LE(start + 12),
    seq: readInteger(bytes, start + 16, end),
    filled: readInteger(bytes, start + 24, end),
    fills,
    increments: readIncrements(bytes, flags, fillsEnd, end),
  };
};

const readCancelled = (bytes: Buffer, start: number, end: number): CancelledFrame => {
  if (end - start < 48) throw new MalformedFrame("an answer is too short");
  const flags = bytes[start + 6] ?? 0;
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

const readClientId = (bytes: Buffer, start: number, from: number, end: number): string => {
  const length = end - from;
  if (length < 0 || bytes[start + 14] !== length) throw new MalformedFrame("the length of the client id is wrong");
  return bytes.toString("latin1", from, end);
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
