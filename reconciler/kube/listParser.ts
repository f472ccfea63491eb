/** Takes a list apart while it arrives, so that 10,000 objects never stand in one JSON.parse. */

/** Reads one list response piece by piece. */
export interface ListParser {
  /** Takes the next bytes, and calls back for each item that they complete. Throws SyntaxError on what is not JSON. */
  push(chunk: Buffer): void;
  /** Ends the input; returns the list without its items. Throws SyntaxError when the list was cut short. */
  end(): unknown;
}

export interface ListParserOptions {
  /**
   * Cuts metadata.managedFields out of the bytes of an item: reading them takes as long as reading all the rest. Only
   * where they are spelt as the API server does and not where two pieces meet: whoever must not see them drops them still.
   */
  readonly cutManagedFields?: boolean;
}

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

/** Nesting of the items array inside its list, and of what is looked for below it. */
const itemsDepth = 2;
const itemDepth = itemsDepth + 1;
const metadataDepth = itemDepth + 1;
const managedFieldsDepth = metadataDepth + 1;

const metadataKey = Buffer.from('"metadata":');
/** Begins with the comma: it must go together with the field. */
const managedFieldsKey = Buffer.from(',"managedFields":');

/** Whether the bytes before `end` are `key`, whose first quote no backslash escapes. */
const endsWith = (chunk: Buffer, end: number, key: Buffer): boolean => {
  const start = end - key.length;
  if (start < 1 || chunk[start - 1] === backslash) return false;
  for (let i = 0; i < key.length; i++) if (chunk[start + i] !== key[i]) return false;
  return true;
};

const firstPendingBytes = 1 << 17;

/** A class, not closures: every page has a reader of its own, and V8 compiles methods once but closures for each. */
class ListReader implements ListParser {
  private readonly onItem: (item: unknown) => void;
  private readonly cutManagedFields: boolean;
  private envelope = "";
  private depth = 0;
  /** How far the scan of the last piece went beyond it. */
  private beyond = 0;
  private inItems = false;
  private inMetadata = false;
  private cutting = false;
  /** Bytes that are kept and not yet read: of the envelope, or an array of items without its end. */
  private pending = Buffer.allocUnsafe(firstPendingBytes);
  private pendingLength = 0;
  /** How many of these are complete items, and where the last item begins. */
  private completeLength = 0;
  private itemStart = 0;
  /** From here on the bytes of the present chunk are not in `pending` yet. */
  private from = 0;

  constructor(onItem: (item: unknown) => void, cutManagedFields: boolean) {
    this.onItem = onItem;
    this.cutManagedFields = cutManagedFields;
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
    if (!this.cutting) this.keepUntil(chunk, length);
    if (this.inItems) this.readItems();
  }

  end(): unknown {
    if (this.depth !== 0 || this.beyond !== 0) throw new SyntaxError("the list ended before it was complete");
    this.readEnvelope();
    return JSON.parse(this.envelope) as unknown;
  }

  private open(chunk: Buffer, i: number): void {
    this.depth++;
    if (this.depth > managedFieldsDepth || this.cutting) return;
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
    } else if (this.depth === metadataDepth) {
      this.inMetadata = this.cutManagedFields && endsWith(chunk, i, metadataKey);
    } else if (this.inMetadata && endsWith(chunk, i, managedFieldsKey)) {
      this.keepUntil(chunk, i - managedFieldsKey.length);
      this.cutting = true;
    }
  }

  private openArray(chunk: Buffer, i: number): void {
    this.keepUntil(chunk, i + 1);
    this.readEnvelope();
    this.inItems = /"items"\s*:\s*\[$/.test(this.envelope);
  }

  private close(chunk: Buffer, i: number): void {
    this.depth--;
    if (this.depth >= metadataDepth) {
      if (!this.cutting || this.depth !== metadataDepth) return;
      this.cutting = false;
      this.from = i + 1;
    } else if (!this.inItems) {
      return;
    } else if (this.depth === itemsDepth) {
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

/**
 * A parser of `{..., "items": [...], ...}`, its fields in any order: built-in kinds put metadata first, custom
 * resources last. It follows only strings and brackets itself, to find where an item ends; JSON.parse reads the rest.
 */
export const createListParser = (
  onItem: (item: unknown) => void,
  { cutManagedFields = false }: ListParserOptions = {},
): ListParser => new ListReader(onItem, cutManagedFields);
