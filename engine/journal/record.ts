import { crc32 } from "node:zlib";

import type { OrderTerms } from "../book/terms.ts";
import { entryKinds, readCommand, readInteger, writeCommand, writeInteger } from "./commandCodec.ts";

/** A point in the history: `seq` is gap-free from 1, `epoch` never decreases with it. */
export interface Position {
  readonly epoch: number;
  readonly seq: number;
}

export const origin: Position = { epoch: 0, seq: 0 };

/** Orders positions by epoch, then by sequence. Negative when `a` is behind `b`. */
export const comparePositions = (a: Position, b: Position): number => a.epoch - b.epoch || a.seq - b.seq;

/** First record of an epoch: who leads it, where the history before it ends, and what it trades by. */
export interface EpochStart {
  readonly kind: "epochStart";
  readonly previous: Position;
  readonly instance: string;
  readonly tradingPair: string;
  readonly tickSize: string;
  readonly lotSize: string;
  /** A client id is forgotten this many records after its order became final. */
  readonly clientIdWindow: number;
}

/** Who asks, and by which id an answer is found again. */
export interface Request {
  /** Whose order it is; "" for nobody's. Client ids are unique within an account. */
  readonly account: string;
  readonly clientId: string;
}

/** A request that brings a new client id. */
export interface NewOrderRequest extends Request {
  /** Last sequence number that the client had seen when it sent this for the first time; 0 when it did not say. */
  readonly after: number;
}

export interface PlaceOrder extends NewOrderRequest, OrderTerms {
  readonly kind: "order";
}

/** Takes what is open of an order out. */
export interface CancelOrder extends Request {
  readonly kind: "cancel";
}

/** Puts an order with the new `clientId` in the place of `target`. What is 0 stays as it is. */
export interface ReplaceOrder extends NewOrderRequest {
  readonly kind: "replace";
  /** Client id of an open order of the same account. */
  readonly target: string;
  readonly price: number;
  readonly stopPrice: number;
  /** Of the whole order: what `target` has traded already counts towards it. */
  readonly quantity: number;
}

export type Command = EpochStart | PlaceOrder | CancelOrder | ReplaceOrder;

export interface JournalRecord {
  readonly epoch: number;
  readonly seq: number;
  /**
   * What the primary knew to be committed when it wrote this record. It lets a replica that
   * restarts apply nearly all of its journal without asking anyone.
   */
  readonly committed: number;
  readonly command: Command;
}

/**
 * Layout, little endian, the same on disk and on the wire:
 *
 *     0 u32 length of the whole entry    8 u8 kind      16 u64 seq
 *     4 u32 crc32 of everything after   12 u32 epoch    24 u64 committed    32 payload
 */
export const headerBytes = 32;
/** Longest entry that a reader believes; anything longer is damage. */
export const maxEntryBytes = 4096;

/** Appends an entry at `offset` and answers its length; `bytes` must have {@link maxEntryBytes} left. */
export const encodeRecord = (record: JournalRecord, bytes: Buffer, offset: number): number => {
  const end = writeCommand(record.command, bytes, offset + headerBytes);
  return seal(record, entryKinds[record.command.kind], end, bytes, offset);
};

const syncMagic = Buffer.from([0xff, 0xf5, 0x59, 0x4e, 0x43, 0xf5, 0xff, 0x00]);

/**
 * An entry that says "everything before me was fsynced". A batch begins with one, and is written only
 * after the batch before it was fsynced: damage with a mark behind it is corruption, damage without is a torn write.
 */
export const encodeSyncMark = (after: Position): Buffer => {
  const bytes = Buffer.alloc(headerBytes + syncMagic.length);
  syncMagic.copy(bytes, headerBytes);
  seal({ ...after, committed: 0 }, entryKinds.syncMark, bytes.length, bytes, 0);
  return bytes;
};

/** Whether an intact sync mark lies anywhere at or after `from`. Client ids are ASCII and cannot imitate one. */
export const holdsSyncMark = (bytes: Buffer, from: number): boolean => {
  for (let at = bytes.indexOf(syncMagic, from); at !== -1; at = bytes.indexOf(syncMagic, at + 1)) {
    const entry = at - headerBytes;
    if (entry >= from && readEntry(bytes, entry) === "syncMark") return true;
  }
  return false;
};

const seal = (
  at: { readonly epoch: number; readonly seq: number; readonly committed: number },
  kind: number,
  end: number,
  bytes: Buffer,
  offset: number,
): number => {
  const length = end - offset;
  bytes.writeUInt32LE(length, offset);
  bytes.writeUInt32LE(kind, offset + 8);
  bytes.writeUInt32LE(at.epoch, offset + 12);
  writeInteger(bytes, at.seq, offset + 16);
  writeInteger(bytes, at.committed, offset + 24);
  bytes.writeUInt32LE(crc32(bytes.subarray(offset + 8, offset + length)), offset + 4);
  return length;
};

/** What is at `offset`: a record, a sync mark, or bytes that no writer finished. */
export const readEntry = (bytes: Buffer, offset: number): JournalRecord | "syncMark" | "damaged" => {
  if (offset + headerBytes > bytes.length) return "damaged";
  const length = bytes.readUInt32LE(offset);
  if (length < headerBytes || length > maxEntryBytes || offset + length > bytes.length) return "damaged";
  if (crc32(bytes.subarray(offset + 8, offset + length)) !== bytes.readUInt32LE(offset + 4)) return "damaged";
  const kind = bytes.readUInt8(offset + 8);
  if (kind === entryKinds.syncMark) return "syncMark";
  const command = readCommand(kind, bytes, offset + headerBytes, offset + length);
  return {
    epoch: bytes.readUInt32LE(offset + 12),
    seq: readInteger(bytes, offset + 16),
    committed: readInteger(bytes, offset + 24),
    command,
  };
};

/** Length of the intact entry at `offset`. */
export const entryLength = (bytes: Buffer, offset: number): number => bytes.readUInt32LE(offset);
