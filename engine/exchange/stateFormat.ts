/**
 * An exchange's state as chunks of at most 256 KiB, in this order and nothing else. Integers are little endian, numbers are
 * f64, which hold every exact integer. A chunk is
 *
 *     0 u32 crc32 of everything after    4 u32 magic and version    8 u32 its index, from 0    12 items
 *
 * An item does not go over the end of its chunk; the first one is the head, the last one of all is the end. Its first byte says what it is:
 *
 *     head    u8, u32 epoch, u32 digest low, u32 digest high, f64 seq, f64 window of client ids, f64 last price (0: none)
 *     rules   u8, three times: u16 length, text. The i-th of all is number i; the first are those in force
 *     order   see `orderItem`; the trades of its answer follow it
 *     trades  u8, u16 count, count times f64
 *     end     u8, f64 number of orders
 *
 * Orders come in the order in which they are put back: bids and asks by priority, stops likewise, final ones as they became so.
 */
export const chunkHeaderBytes = 12;
export const chunkBytes = 256 * 1024;
/** Longer than any item: an id has 64 characters at most, and rules fit into a journal entry. */
export const longestItemBytes = 8 * 1024;
/** "TEX" and the version. */
export const magic = 0x54455801;

/** Numbers are part of the format: one is never given to another item. */
export const itemTags = { head: 1, rules: 2, order: 3, trades: 4, end: 5 } as const;

/** Numbers in one item of trades at most. */
export const tradesPerItem = 512;

/**
 * Offsets in an order's item. A replacement has three more numbers, its own price, stop price and quantity. Then come client id,
 * account and target.
 */
export const orderItem = {
  status: 1,
  reason: 2,
  answerStatus: 3,
  answerReason: 4,
  terms: 5,
  isReplacement: 6,
  clientIdLength: 7,
  accountLength: 8,
  targetLength: 9,
  rules: 10,
  epoch: 12,
  finalEpoch: 16,
  numbers: 20,
} as const;

/** The state is not what was written, or was written by a later release. */
export class UnreadableState extends Error {
  readonly code: "damaged" | "formatTooNew";

  constructor(code: UnreadableState["code"], detail: string) {
    super(detail);
    this.name = "UnreadableState";
    this.code = code;
  }
}
