import {
  type OrderStatus,
  orderStatuses,
  orderTypes,
  type Reason,
  reasons,
  selfTradePreventions,
  timesInForce,
} from "../../book/terms.ts";
import type { PlaceOrder, ReplaceOrder, Request } from "../../journal/record.ts";
import {
  answerFlags,
  answerTypes,
  type CancelledFrame,
  type FoundFrame,
  type Goodbye,
  headerBytes,
  type Increments,
  type PlacedFrame,
  type ProblemFrame,
  problemCodes,
  requestTypes,
  type Welcome,
} from "./protocol.ts";

const slabBytes = 256 * 1024;
const bit32 = 0x1_0000_0000;

/** Encodes frames one behind the other, until they are taken to be written in one go. */
export class FrameWriter {
  /** Zeroed, and never written twice: bytes that a frame does not name are 0. */
  #bytes = Buffer.alloc(slabBytes);
  #used = 0;

  get length(): number {
    return this.#used;
  }

  /** Everything encoded since the last call. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#used);
    // The next frames go behind these in the same memory while there is room: a write under way needs what it took.
    this.#bytes = this.#bytes.subarray(this.#used);
    this.#used = 0;
    return taken;
  }

  place(correlation: number, order: Omit<PlaceOrder, "kind">): void {
    const at = this.#about(requestTypes.place, correlation, order, 48);
    const bytes = this.#bytes;
    bytes[at + 5] = order.side === "buy" ? 0 : 1;
    bytes[at + 6] = orderTypes.indexOf(order.type);
    bytes[at + 7] = timesInForce.indexOf(order.timeInForce);
    bytes[at + 12] = order.postOnly ? 1 : 0;
    bytes[at + 13] = selfTradePreventions.indexOf(order.selfTrade);
    writeInteger(bytes, order.price, at + 16);
    writeInteger(bytes, order.stopPrice, at + 24);
    writeInteger(bytes, order.quantity, at + 32);
    writeInteger(bytes, order.after, at + 40);
  }

  replace(correlation: number, order: Omit<ReplaceOrder, "kind">): void {
    const at = this.#about(requestTypes.replace, correlation, order, 48, order.target);
    const bytes = this.#bytes;
    bytes[at + 13] = order.target.length;
    writeInteger(bytes, order.price, at + 16);
    writeInteger(bytes, order.stopPrice, at + 24);
    writeInteger(bytes, order.quantity, at + 32);
    writeInteger(bytes, order.after, at + 40);
  }

  cancel(correlation: number, order: Request): void {
    this.#about(requestTypes.cancel, correlation, order, 16);
  }

  find(correlation: number, order: Request): void {
    this.#about(requestTypes.find, correlation, order, 16);
  }

  /** A client's: it is there. */
  heartbeat(): void {
    this.#begin(headerBytes, requestTypes.heartbeat, 0);
  }

  /** A client's: it sends nothing more, and waits for the answers that are still to come. */
  leave(): void {
    this.#begin(headerBytes, requestTypes.goodbye, 0);
  }

  placed(correlation: number, frame: PlacedFrame): void {
    this.#answer(answerTypes.placed, correlation, frame, 40);
  }

  found(correlation: number, frame: FoundFrame): void {
    const at = this.#answer(answerTypes.found, correlation, frame, 56);
    const { status, reason, filled, remaining } = frame.now;
    writeStatus(this.#bytes, status, reason, at + 36);
    writeInteger(this.#bytes, filled, at + 40);
    writeInteger(this.#bytes, remaining, at + 48);
  }

  cancelled(correlation: number, frame: CancelledFrame): void {
    const at = this.#begin(48 + lengthOf(frame.increments), answerTypes.cancelled, correlation);
    const bytes = this.#bytes;
    bytes[at + 7] = flagsOf(frame);
    writeInt32(bytes, frame.epoch, at + 12);
    writeInteger(bytes, frame.seq, at + 16);
    writeInteger(bytes, frame.filled, at + 24);
    writeInteger(bytes, frame.orderSeq, at + 32);
    writeInt32(bytes, frame.orderEpoch, at + 40);
    writeIncrements(bytes, frame.increments, at + 48);
  }

  problem(correlation: number, { code, detail }: ProblemFrame): void {
    const at = this.#text(answerTypes.problem, correlation, detail);
    this.#bytes[at + 5] = problemCodes.indexOf(code);
  }

  /** A server's: it is there, and everything up to `committed` is committed. */
  serverHeartbeat(committed: number): void {
    writeInteger(this.#bytes, committed, this.#begin(24, answerTypes.heartbeat, 0) + 16);
  }

  welcome(welcome: Welcome): void {
    this.#text(answerTypes.welcome, 0, JSON.stringify(welcome));
  }

  goodbye(goodbye: Goodbye): void {
    this.#text(answerTypes.goodbye, 0, JSON.stringify(goodbye));
  }

  /** A request about an order: its ids stand at `idsAt` and behind it. */
  #about(type: number, correlation: number, order: Request, idsAt: number, target = ""): number {
    const { clientId, account } = order;
    const length = idsAt + clientId.length + account.length + target.length;
    const at = this.#begin(length, type, correlation);
    this.#bytes[at + 14] = clientId.length;
    this.#bytes[at + 15] = account.length;
    writeAscii(this.#bytes, clientId, at + idsAt);
    writeAscii(this.#bytes, account, at + idsAt + clientId.length);
    writeAscii(this.#bytes, target, at + length - target.length);
    return at;
  }

  #answer(type: number, correlation: number, frame: PlacedFrame, tradesAt: number): number {
    const { trades } = frame;
    const at = this.#begin(tradesAt + 8 * trades.length + lengthOf(frame.increments), type, correlation);
    const bytes = this.#bytes;
    writeStatus(bytes, frame.status, frame.reason, at + 5);
    bytes[at + 7] = flagsOf(frame);
    writeInt32(bytes, frame.epoch, at + 12);
    writeInteger(bytes, frame.seq, at + 16);
    writeInteger(bytes, frame.filled, at + 24);
    writeInt32(bytes, trades.length / 2, at + 32);
    let end = at + tradesAt;
    for (const number of trades) {
      writeInteger(bytes, number, end);
      end += 8;
    }
    writeIncrements(bytes, frame.increments, end);
    return at;
  }

  #text(type: number, correlation: number, text: string): number {
    const encoded = Buffer.from(text, "utf8");
    const at = this.#begin(headerBytes + encoded.length, type, correlation);
    encoded.copy(this.#bytes, at + headerBytes);
    return at;
  }

  /** Makes room for a frame and writes its header; answers where it begins. */
  #begin(length: number, type: number, correlation: number): number {
    if (this.#bytes.length - this.#used < length) this.#grow(length);
    const at = this.#used;
    this.#used += length;
    writeInt32(this.#bytes, length, at);
    this.#bytes[at + 4] = type;
    writeInt32(this.#bytes, correlation, at + 8);
    return at;
  }

  #grow(length: number): void {
    const larger = Buffer.alloc(Math.max(slabBytes, (this.#used + length) * 2));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}

// Single bytes: Buffer's own methods check their arguments anew for each of the several fields of a frame.
const writeInt32 = (bytes: Buffer, value: number, at: number): void => {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
};

const writeInteger = (bytes: Buffer, value: number, at: number): void => {
  writeInt32(bytes, value, at);
  writeInt32(bytes, Math.floor(value / bit32), at + 4);
};

const writeAscii = (bytes: Buffer, text: string, at: number): void => {
  for (let index = 0; index < text.length; index += 1) bytes[at + index] = text.charCodeAt(index);
};

const writeStatus = (bytes: Buffer, status: OrderStatus, reason: Reason | null, at: number): void => {
  bytes[at] = orderStatuses.indexOf(status);
  bytes[at + 1] = reason === null ? 0 : reasons.indexOf(reason) + 1;
};

const flagsOf = (frame: { readonly duplicate: boolean; readonly increments: Increments | null }): number =>
  (frame.duplicate ? answerFlags.duplicate : 0) | (frame.increments === null ? 0 : answerFlags.ownIncrements);

const lengthOf = (increments: Increments | null): number =>
  increments === null ? 0 : 2 + increments.tickSize.length + increments.lotSize.length;

const writeIncrements = (bytes: Buffer, increments: Increments | null, at: number): void => {
  if (increments === null) return;
  let end = at;
  for (const size of [increments.tickSize, increments.lotSize]) {
    bytes[end] = size.length;
    writeAscii(bytes, size, end + 1);
    end += 1 + size.length;
  }
};
