/** Takes a list apart while it arrives, so that 10,000 objects never stand in one JSON.parse. */
import { createListScanner } from "./listScanner.ts";
import { markManagedFields, removeMarks } from "./managedFields.ts";

/** Reads one list response piece by piece. */
export interface ListParser {
  /** Takes the next bytes, and calls back for items that they complete. Throws SyntaxError on what is not JSON. */
  push(chunk: Buffer): void;
  /** Ends the input, with the last items; returns the list without its items. Throws SyntaxError when it was cut short. */
  end(): unknown;
}

export interface ListParserOptions {
  /** Leaves out metadata.managedFields where that is easy: whoever must not see them drops them still. */
  readonly cutManagedFields?: boolean;
  /** So much is read at a time: it takes a millisecond. Default 96 KiB. */
  readonly batchBytes?: number;
}

/** Below the size from which V8 gives each string pages of its own, which costs more than to fill them. */
const defaultBatchBytes = 96 * 1024;

/** A list as the API server spells it, up to its first item. */
const itemsKey = '"items":[';
const firstKeyPattern = /^\{"[^"\\]*":/;
const longestFirstKey = 256;

/**
 * Reads the items in batches that end where the next item seems to begin: at an object with the same first key as the first
 * item has. JSON.parse says whether that was so, for a batch that ended inside of an item is no JSON. A list that has
 * no such places is left to the scanner, which looks at each byte.
 *
 * A class, not closures: every page has a parser of its own, and V8 compiles methods once but closures for each.
 */
class BatchParser implements ListParser {
  private readonly onItem: (item: unknown) => void;
  private cutManagedFields: boolean;
  private scanner: ListParser | undefined;
  /** What precedes the items; undefined until they have begun. */
  private envelope: string | undefined;
  /** Ends an item and begins the next. */
  private separator = Buffer.alloc(0);
  private readonly pending: Buffer;
  private length = 0;

  constructor(onItem: (item: unknown) => void, cutManagedFields: boolean, batchBytes: number) {
    this.onItem = onItem;
    this.cutManagedFields = cutManagedFields;
    this.pending = Buffer.allocUnsafe(batchBytes);
  }

  push(chunk: Buffer): void {
    let from = 0;
    while (from < chunk.length && this.scanner === undefined) {
      const copied = chunk.copy(this.pending, this.length, from);
      from += copied;
      this.length += copied;
      if (this.length === this.pending.length) this.readBatch();
    }
    this.scanner?.push(chunk.subarray(from));
  }

  end(): unknown {
    if (this.scanner === undefined) {
      const end = this.hasBegun() ? this.held().lastIndexOf("]") : -1;
      const list = end < 0 ? undefined : parsed(`${this.envelope}${this.text(end, this.length)}`);
      if (list !== undefined && this.readItems(end)) return list;
    }
    return (this.scanner ?? this.scan()).end();
  }

  private readBatch(): void {
    const end = this.hasBegun() ? this.held().lastIndexOf(this.separator) : -1;
    if (end < 0 || !this.readItems(end + 1)) {
      this.scan();
      return;
    }
    this.length = this.pending.copy(this.pending, 0, end + 2, this.length);
  }

  /** Looks for the first item, and drops all before it. */
  private hasBegun(): boolean {
    if (this.envelope !== undefined) return true;
    const start = this.held().indexOf(`${itemsKey}{`) + itemsKey.length;
    if (start < itemsKey.length) return false;
    const firstKey = firstKeyPattern.exec(this.text(start, Math.min(start + longestFirstKey, this.length)))?.[0];
    const envelope = this.text(0, start);
    // Not so when these are items of something deeper.
    if (firstKey === undefined || parsed(`${envelope}]}`) === undefined) return false;
    this.envelope = envelope;
    this.separator = Buffer.from(`},${firstKey}`);
    this.length = this.pending.copy(this.pending, 0, start, this.length);
    return true;
  }

  /** Reads the items up to `end`; false if it is not the end of one. */
  private readItems(end: number): boolean {
    const json = this.text(0, end);
    let items: unknown[] | undefined;
    if (this.cutManagedFields) {
      const { text, marks } = markManagedFields(json);
      items = parsed(`[${text}]`) as unknown[] | undefined;
      if (items === undefined) return false;
      if (!removeMarks(items, marks)) {
        this.cutManagedFields = false;
        items = undefined;
      }
    }
    items ??= parsed(`[${json}]`) as unknown[] | undefined;
    if (items === undefined) return false;
    for (const item of items) this.onItem(item);
    return true;
  }

  /** Leaves what is pending, and all that follows, to the scanner: to it the items that were read never were. */
  private scan(): ListParser {
    this.scanner = createListScanner(this.onItem);
    this.scanner.push(Buffer.from(this.envelope ?? ""));
    this.scanner.push(this.held());
    return this.scanner;
  }

  private held(): Buffer {
    return this.pending.subarray(0, this.length);
  }

  private text(from: number, to: number): string {
    return this.pending.toString("utf8", from, to);
  }
}

/** Undefined if it is not JSON, which no JSON says. */
const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
};

/**
 * A parser of `{..., "items": [...], ...}`, its fields in any order: built-in kinds put metadata first, custom
 * resources last.
 */
export const createListParser = (
  onItem: (item: unknown) => void,
  { cutManagedFields = false, batchBytes = defaultBatchBytes }: ListParserOptions = {},
): ListParser => new BatchParser(onItem, cutManagedFields, batchBytes);
