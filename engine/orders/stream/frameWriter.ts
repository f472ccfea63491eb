import {
  answerFlags,
  answerTypes,
  type CancelledFrame,
  type Goodbye,
  headerBytes,
  type Increments,
  orderStatuses,
  orderTypes,
  type PlacedFrame,
  type PlaceFrame,
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

  place(correlation: number, order: PlaceFrame): void {
    const at = this.#begin(48 + order.clientId.length, requestTypes.place, correlation);
    const bytes = this.#bytes;
    bytes[at + 5] = order.side === "buy" ? 0 : 1;
    bytes[at + 6] = orderTypes.indexOf(order.type);
    bytes[at + 14] = order.clientId.length;
    writeInteger(bytes, order.price, at + 16);
    writeInteger(bytes, order.quantity, at + 32);
    writeAscii(bytes, order.clientId, at + 48);
  }

  cancel(correlation: number, clientId: string): void {
    this.#about(requestTypes.cancel, correlation, clientId);
  }

  find(correlation: number, clientId: string): void {
    this.#about(requestTypes.find, correlation, clientId);
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
    const { fills } = frame;
    const at = this.#begin(40 + 16 * fills.length + lengthOf(frame.increments), answerTypes.placed, correlation);
    const bytes = this.#bytes;
    bytes[at + 5] = orderStatuses.indexOf(frame.status);
    bytes[at + 6] = flagsOf(frame);
    writeInt32(bytes, frame.epoch, at + 12);
    writeInteger(bytes, frame.seq, at + 16);
    writeInteger(bytes, frame.filled, at + 24);
    writeInt32(bytes, fills.length, at + 32);
    let end = at + 40;
    for (const fill of fills) {
      writeInteger(bytes, fill.price, end);
      writeInteger(bytes, fill.quantity, end + 8);
      end += 16;
    }
    writeIncrements(bytes, frame.increments, end);
  }

  cancelled(correlation: number, frame: CancelledFrame): void {
    const at = this.#begin(48 + lengthOf(frame.increments), answerTypes.cancelled, correlation);
    const bytes = this.#bytes;
    bytes[at + 6] = flagsOf(frame);
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

  #about(type: number, correlation: number, clientId: string): void {
    const at = this.#begin(16 + clientId.length, type, correlation);
    this.#bytes[at + 14] = clientId.length;
    writeAscii(this.#bytes, clientId, at + 16);
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
