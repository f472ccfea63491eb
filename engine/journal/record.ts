import { crc32 } from "node:zlib";

import type { Side } from "../book/orderBook.ts";

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
}

export interface PlaceOrder {
  readonly kind: "order";
  readonly clientId: string;
  readonly side: Side;
  readonly type: "limit" | "market";
  /** Ticks; 0 for a market order. */
  readonly price: number;
  /** Lots. */
  readonly quantity: number;
}

export interface CancelOrder {
  readonly kind: "cancel";
  readonly clientId: string;
}

export type Command = EpochStart | PlaceOrder | CancelOrder;

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

/** Kinds are part of the format: a number is never given to another kind. */
export const entryKinds = { syncMark: 0, epochStart: 1, order: 2, cancel: 3 } as const;

const bit32 = 0x1_0000_0000;

const writeInteger = (bytes: Buffer, value: number, offset: number): void => {
  bytes.writeUInt32LE(value >>> 0, offset);
  bytes.writeUInt32LE(Math.floor(value / bit32), offset + 4);
};

const readInteger = (bytes: Buffer, offset: number): number =>
  bytes.readUInt32LE(offset + 4) * bit32 + bytes.readUInt32LE(offset);

/** Appends an entry at `offset` and answers its length; `bytes` must have {@link maxEntryBytes} left. */
export const encodeRecord = (record: JournalRecord, bytes: Buffer, offset: number): number => {
  const { command } = record;
  const payload = offset + headerBytes;
  switch (command.kind) {
    case "order": {
      bytes.writeUInt8(command.side === "buy" ? 0 : 1, payload);
      bytes.writeUInt8(command.type === "limit" ? 0 : 1, payload + 1);
      writeInteger(bytes, command.price, payload + 2);
      writeInteger(bytes, command.quantity, payload + 10);
      const idBytes = bytes.write(command.clientId, payload + 18, "latin1");
      return seal(record, entryKinds.order, 18 + idBytes, bytes, offset);
    }
    case "cancel":
      return seal(record, entryKinds.cancel, bytes.write(command.clientId, payload, "latin1"), bytes, offset);
    case "epochStart": {
      const { previous, instance, tradingPair, tickSize, lotSize } = command;
      const body = JSON.stringify({ previous, instance, tradingPair, tickSize, lotSize });
      return seal(record, entryKinds.epochStart, bytes.write(body, payload, "utf8"), bytes, offset);
    }
  }
};

const syncMagic = Buffer.from([0xff, 0xf5, 0x59, 0x4e, 0x43, 0xf5, 0xff, 0x00]);

/**
 * An entry that says "everything before me was fsynced". A batch begins with one, and is written only
 * after the batch before it was fsynced: damage with a mark behind it is corruption, damage without is a torn write.
 */
export const encodeSyncMark = (after: Position): Buffer => {
  const bytes = Buffer.alloc(headerBytes + syncMagic.length);
  syncMagic.copy(bytes, headerBytes);
  seal({ ...after, committed: 0 }, entryKinds.syncMark, syncMagic.length, bytes, 0);
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
  payloadBytes: number,
  bytes: Buffer,
  offset: number,
): number => {
  const length = headerBytes + payloadBytes;
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
  const command = decodeCommand(kind, bytes, offset + headerBytes, offset + length);
  return {
    epoch: bytes.readUInt32LE(offset + 12),
    seq: readInteger(bytes, offset + 16),
    committed: readInteger(bytes, offset + 24),
    command,
  };
};

/** Length of the intact entry at `offset`. */
export const entryLength = (bytes: Buffer, offset: number): number => bytes.readUInt32LE(offset);

/** A record kind of a later release: its effect is unknown here, so that going on would diverge. */
export class UnknownRecordKind extends Error {
  constructor(kind: number) {
    super(`record kind ${kind} is unknown to this release; run the release that wrote it, or a later one`);
    this.name = "UnknownRecordKind";
  }
}

const decodeCommand = (kind: number, bytes: Buffer, start: number, end: number): Command => {
  switch (kind) {
    case entryKinds.order:
      return {
        kind: "order",
        side: bytes.readUInt8(start) === 0 ? "buy" : "sell",
        type: bytes.readUInt8(start + 1) === 0 ? "limit" : "market",
        price: readInteger(bytes, start + 2),
        quantity: readInteger(bytes, start + 10),
        clientId: bytes.toString("latin1", start + 18, end),
      };
    case entryKinds.cancel:
      return { kind: "cancel", clientId: bytes.toString("latin1", start, end) };
    case entryKinds.epochStart:
      return { kind: "epochStart", ...decodeEpochStart(bytes.toString("utf8", start, end)) };
    default:
      throw new UnknownRecordKind(kind);
  }
};

// The checksum was right, so this is what an engine wrote: its shape needs no second check.
const decodeEpochStart = (json: string): Omit<EpochStart, "kind"> => JSON.parse(json) as Omit<EpochStart, "kind">;
