/** Takes a list apart while it arrives, so that 10,000 objects never stand in one JSON.parse. */

/** Reads one list response piece by piece. */
export interface ListParser {
  /** Takes the next bytes, and calls back for each item that they complete. Throws SyntaxError on what is not JSON. */
  push(chunk: Buffer): void;
  /** Ends the input; returns the list without its items. Throws SyntaxError when the list was cut short. */
  end(): unknown;
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** 1 for each byte that matters here: one look tells that nine of ten do not. */
const structural = Uint8Array.from({ length: 256 }, (_, byte) =>
  [quote, backslash, openBrace, closeBrace, openBracket, closeBracket].includes(byte) ? 1 : 0,
);

/** Nesting of the items array inside its list. */
const itemsDepth = 2;

/**
 * A parser of `{..., "items": [...], ...}`, its fields in any order: built-in kinds put metadata first, custom
 * resources last. It follows only strings and brackets itself, to find where an item ends; JSON.parse reads the rest.
 */
export const createListParser = (onItem: (item: unknown) => void): ListParser => {
  let envelope = "";
  let depth = 0;
  let inString = false;
  /** The next byte is the one after a backslash. */
  let skipsFirst = false;
  let inItems = false;
  /** Bytes from earlier chunks that belong to the piece being read. */
  let carried: Buffer[] = [];

  const take = (chunk: Buffer, from: number, to: number): string => {
    if (carried.length === 0) return chunk.toString("utf8", from, to);
    carried.push(chunk.subarray(from, to));
    const piece = Buffer.concat(carried).toString("utf8");
    carried = [];
    return piece;
  };

  /** The opening bracket at `i` starts a piece of its own if it opens the items array or an item of it. */
  const open = (chunk: Buffer, from: number, i: number): number => {
    depth++;
    if (depth === itemsDepth && !inItems && chunk[i] === openBracket) {
      envelope += take(chunk, from, i + 1);
      inItems = /"items"\s*:\s*\[$/.test(envelope);
      return i + 1;
    }
    return inItems && depth === itemsDepth + 1 ? i : from;
  };

  const close = (chunk: Buffer, from: number, i: number): number => {
    depth--;
    if (inItems && depth === itemsDepth) {
      onItem(JSON.parse(take(chunk, from, i + 1)));
      return i + 1;
    }
    if (inItems && depth < itemsDepth) {
      inItems = false;
      return i;
    }
    return from;
  };

  return {
    push(chunk) {
      let from = 0;
      let i = skipsFirst ? 1 : 0;
      // A copy of its own: a variable shared with other functions is read from memory for each of 20 million bytes.
      let quoted = inString;
      for (; i < chunk.length; i++) {
        const byte = chunk[i] ?? 0;
        if (structural[byte] === 0) continue;
        if (quoted) {
          if (byte === quote) quoted = false;
          else if (byte === backslash) i++;
        } else if (byte === quote) quoted = true;
        else if (byte === openBrace || byte === openBracket) from = open(chunk, from, i);
        else if (byte === closeBrace || byte === closeBracket) from = close(chunk, from, i);
      }
      skipsFirst = i > chunk.length;
      inString = quoted;
      // Between two items there are only commas and blanks, which belong to nothing.
      if (inItems && depth === itemsDepth) return;
      carried.push(chunk.subarray(from));
    },
    end() {
      if (depth !== 0 || inString) throw new SyntaxError("the list ended before it was complete");
      return JSON.parse(envelope + take(Buffer.alloc(0), 0, 0)) as unknown;
    },
  };
};
