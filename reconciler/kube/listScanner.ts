/** Finds the items of a list byte by byte, whatever their order and spelling. */
import type { ListParser } from "./listParser.ts";

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** 1 for each byte that matters outside of strings: one look tells that most do not. */
const structural = Uint8Array.from({ length: 256 }, (_, byte) =>
  [quote, openBrace, closeBrace, openBracket, closeBracket].includes(byte) ? 1 : 0,
);

/** How far a scan went beyond its piece, which tells where the next one begins. */
const inString = 1;
const afterBackslash = 2;

/** The index after the string that goes on at `i`; `chunk.length` + {@link inString} or {@link afterBackslash} if it is cut. */
const skipString = (chunk: Buffer, i: number): number => {
  const { length } = chunk;
  let at = i;
  while (at < length) {
    const byte = chunk[at++];
    if (byte === quote) return at;
    if (byte === backslash && ++at > length) return length + afterBackslash;
  }
  return length + inString;
};

/** The index of the next bracket outside of strings at or after `i`; `chunk.length` or what {@link skipString} says if none. */
const nextBracket = (chunk: Buffer, i: number): number => {
  const { length } = chunk;
  let at = i;
  while (at < length) {
    const byte = chunk[at] ?? 0;
    if (structural[byte] === 0) at++;
    else if (byte === quote) at = skipString(chunk, at + 1);
    else return at;
  }
  return at;
};

/** Nesting of the items array inside its list. */
const itemsDepth = 2;
const itemDepth = itemsDepth + 1;

const firstPendingBytes = 1 << 17;

/** A class, not closures: every page has a reader of its own, and V8 compiles methods once but closures for each. */
class ListScanner implements ListParser {
  private readonly onItem: (item: unknown) => void;
  private envelope = "";
  private depth = 0;
  /** How far the scan of the last piece went beyond it. */
  private beyond = 0;
  private inItems = false;
  /** Bytes that are kept and not yet read: of the envelope, or an array of items without its end. */
  private pending = Buffer.allocUnsafe(firstPendingBytes);
  private pendingLength = 0;
  /** How many of these are complete items, and where the last item begins. */
  private completeLength = 0;
  private itemStart = 0;
  /** From here on the bytes of the present chunk are not in `pending` yet. */
  private from = 0;

  constructor(onItem: (item: unknown) => void) {
    this.onItem = onItem;
  }

  push(chunk: Buffer): void {
    const { length } = chunk;
    if (length === 0) return;
    this.from = 0;
    let i = this.beyond === 0 ? 0 : skipString(chunk, this.beyond - inString);
    for (i = nextBracket(chunk, i); i < length; i = nextBracket(chunk, i + 1)) {
      const byte = chunk[i];
      if (byte === openBrace || byte === openBracket) this.open(chunk, i);
      else this.close(chunk, i);
    }
    this.beyond = i - length;
    this.keepUntil(chunk, length);
    if (this.inItems) this.readItems();
  }

  end(): unknown {
    if (this.depth !== 0 || this.beyond !== 0) throw new SyntaxError("the list ended before it was complete");
    this.readEnvelope();
    return JSON.parse(this.envelope) as unknown;
  }

  private open(chunk: Buffer, i: number): void {
    this.depth++;
    if (this.depth > itemDepth) return;
    if (!this.inItems) {
      if (this.depth === itemsDepth && chunk[i] === openBracket) this.openArray(chunk, i);
    } else if (this.depth === itemDepth) {
      // Between the items of the last piece and this one there are only a comma and blanks.
      if (this.completeLength === 0) {
        this.from = i;
        this.pending[0] = openBracket;
        this.pendingLength = 1;
      }
      this.itemStart = this.pendingLength + i - this.from;
    }
  }

  private openArray(chunk: Buffer, i: number): void {
    this.keepUntil(chunk, i + 1);
    this.readEnvelope();
    this.inItems = /"items"\s*:\s*\[$/.test(this.envelope);
  }

  private close(chunk: Buffer, i: number): void {
    this.depth--;
    if (!this.inItems) return;
    if (this.depth === itemsDepth) {
      this.completeLength = this.pendingLength + i + 1 - this.from;
    } else if (this.depth < itemsDepth) {
      this.keepUntil(chunk, i);
      this.readItems();
      this.pendingLength = 0;
      this.inItems = false;
    }
  }

  private keepUntil(chunk: Buffer, to: number): void {
    const length = this.pendingLength + to - this.from;
    // One byte more: for the bracket that makes an array of the items.
    if (length >= this.pending.length) {
      const larger = Buffer.allocUnsafe(2 * length);
      this.pending.copy(larger, 0, 0, this.pendingLength);
      this.pending = larger;
    }
    chunk.copy(this.pending, this.pendingLength, this.from, to);
    this.pendingLength = length;
    this.from = to;
  }

  private readEnvelope(): void {
    this.envelope += this.pending.toString("utf8", 0, this.pendingLength);
    this.pendingLength = 0;
  }

  /** All complete items at once: that is less work than one by one. */
  private readItems(): void {
    if (this.completeLength === 0) return;
    // What stood there was a comma or a blank at most.
    this.pending[this.completeLength] = closeBracket;
    const items = JSON.parse(this.pending.toString("utf8", 0, this.completeLength + 1)) as unknown[];
    const rest = this.depth > itemsDepth ? this.pendingLength - this.itemStart : 0;
    this.pending.copy(this.pending, 1, this.itemStart, this.itemStart + rest);
    this.pendingLength = 1 + rest;
    this.completeLength = 0;
    this.itemStart = 1;
    for (const item of items) this.onItem(item);
  }
}

/** A parser that follows only strings and brackets itself, to find where an item ends; JSON.parse reads the rest. */
export const createListScanner = (onItem: (item: unknown) => void): ListParser => new ListScanner(onItem);
