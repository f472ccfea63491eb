import { type OrderTerms, orderTypes, selfTradePreventions, sides, timesInForce } from "../book/terms.ts";
import type { Command, EpochStart, PlaceOrder, ReplaceOrder } from "./record.ts";

/** Kinds are part of the format: a number is never given to another kind. */
export const entryKinds = { syncMark: 0, epochStart: 1, order: 2, cancel: 3, replace: 4 } as const;

/** A record kind of a later release: its effect is unknown here, so that going on would diverge. */
export class UnknownRecordKind extends Error {
  constructor(kind: number) {
    super(`record kind ${kind} is unknown to this release; run the release that wrote it, or a later one`);
    this.name = "UnknownRecordKind";
  }
}

const bit32 = 0x1_0000_0000;

/** A u64; numbers beyond exact integers are refused. */
export const writeInteger = (bytes: Buffer, value: number, offset: number): void => {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} cannot be written to the journal`);
  bytes.writeUInt32LE(value >>> 0, offset);
  bytes.writeUInt32LE(Math.floor(value / bit32), offset + 4);
};

export const readInteger = (bytes: Buffer, offset: number): number =>
  bytes.readUInt32LE(offset + 4) * bit32 + bytes.readUInt32LE(offset);

const writable = /^[\x20-\x7e]{0,255}$/;

/** Answers the end. Throws on what would be read back differently: a primary applies the command, its standbys these bytes. */
const writeText = (bytes: Buffer, text: string, offset: number): number => {
  if (!writable.test(text)) throw new RangeError("an id in a record must be ASCII, up to 255 characters");
  return offset + bytes.write(text, offset, "latin1");
};

/**
 * Writes the payload of a record and answers its end:
 *
 *     order    u8 terms, u8 length of clientId, u64 price, u64 stopPrice, u64 quantity, u64 after, clientId, account
 *     replace  u8 length of clientId, u8 length of target, the same four u64, clientId, target, account
 *     cancel   u8 length of clientId, clientId, account
 */
export const writeCommand = (command: Command, bytes: Buffer, at: number): number => {
  switch (command.kind) {
    case "order": {
      bytes.writeUInt8(packTerms(command), at);
      bytes.writeUInt8(command.clientId.length, at + 1);
      writeNumbers(command, bytes, at + 2);
      return writeText(bytes, command.account, writeText(bytes, command.clientId, at + 34));
    }
    case "replace": {
      bytes.writeUInt8(command.clientId.length, at);
      bytes.writeUInt8(command.target.length, at + 1);
      writeNumbers(command, bytes, at + 2);
      const targetAt = writeText(bytes, command.clientId, at + 34);
      return writeText(bytes, command.account, writeText(bytes, command.target, targetAt));
    }
    case "cancel": {
      bytes.writeUInt8(command.clientId.length, at);
      return writeText(bytes, command.account, writeText(bytes, command.clientId, at + 1));
    }
    case "epochStart": {
      const { previous, instance, tradingPair, tickSize, lotSize, clientIdWindow } = command;
      const body = JSON.stringify({ previous, instance, tradingPair, tickSize, lotSize, clientIdWindow });
      return at + bytes.write(body, at, "utf8");
    }
  }
};

const writeNumbers = (command: PlaceOrder | ReplaceOrder, bytes: Buffer, at: number): void => {
  writeInteger(bytes, command.price, at);
  writeInteger(bytes, command.stopPrice, at + 8);
  writeInteger(bytes, command.quantity, at + 16);
  writeInteger(bytes, command.after, at + 24);
};

type TermWords = Pick<OrderTerms, "side" | "type" | "timeInForce" | "postOnly" | "selfTrade">;

/** The words of an order's terms in one byte. */
export const packTerms = ({ side, type, timeInForce, postOnly, selfTrade }: TermWords): number =>
  sides.indexOf(side) |
  (orderTypes.indexOf(type) << 1) |
  (timesInForce.indexOf(timeInForce) << 3) |
  (postOnly ? 1 << 5 : 0) |
  (selfTradePreventions.indexOf(selfTrade) << 6);

export const unpackTerms = (byte: number): TermWords => ({
  side: wordAt(sides, byte & 1),
  type: wordAt(orderTypes, (byte >> 1) & 3),
  timeInForce: wordAt(timesInForce, (byte >> 3) & 3),
  postOnly: (byte & 32) !== 0,
  selfTrade: wordAt(selfTradePreventions, byte >> 6),
});

/** The word with this code. Throws on a code of a later release. */
export const wordAt = <Word>(words: readonly Word[], code: number): Word => {
  const word = words[code];
  if (word === undefined) throw new RangeError(`code ${code} is unknown to this release`);
  return word;
};

/** Reads what {@link writeCommand} wrote. */
export const readCommand = (kind: number, bytes: Buffer, at: number, end: number): Command => {
  switch (kind) {
    case entryKinds.order: {
      const { side, type, timeInForce, postOnly, selfTrade } = unpackTerms(bytes.readUInt8(at));
      const accountAt = at + 34 + bytes.readUInt8(at + 1);
      return {
        kind: "order",
        account: readText(bytes, accountAt, end),
        clientId: readText(bytes, at + 34, accountAt),
        side,
        type,
        price: readInteger(bytes, at + 2),
        stopPrice: readInteger(bytes, at + 10),
        quantity: readInteger(bytes, at + 18),
        timeInForce,
        postOnly,
        selfTrade,
        after: readInteger(bytes, at + 26),
      };
    }
    case entryKinds.replace: {
      const targetAt = at + 34 + bytes.readUInt8(at);
      const accountAt = targetAt + bytes.readUInt8(at + 1);
      return {
        kind: "replace",
        account: readText(bytes, accountAt, end),
        clientId: readText(bytes, at + 34, targetAt),
        target: readText(bytes, targetAt, accountAt),
        price: readInteger(bytes, at + 2),
        stopPrice: readInteger(bytes, at + 10),
        quantity: readInteger(bytes, at + 18),
        after: readInteger(bytes, at + 26),
      };
    }
    case entryKinds.cancel: {
      const accountAt = at + 1 + bytes.readUInt8(at);
      return {
        kind: "cancel",
        account: readText(bytes, accountAt, end),
        clientId: readText(bytes, at + 1, accountAt),
      };
    }
    case entryKinds.epochStart:
      return { kind: "epochStart", ...readEpochStart(bytes.toString("utf8", at, end)) };
    default:
      throw new UnknownRecordKind(kind);
  }
};

const readText = (bytes: Buffer, from: number, to: number): string =>
  from === to ? "" : bytes.toString("latin1", from, to);

// The checksum was right, so this is what an engine wrote: its shape needs no second check.
const readEpochStart = (json: string): Omit<EpochStart, "kind"> => JSON.parse(json) as Omit<EpochStart, "kind">;
