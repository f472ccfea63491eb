/**
 * Exact conversion between the decimal strings of the outside and the whole ticks and lots
 * of the inside. Floats never take part: 0.1 + 0.2 must be 0.3.
 */

/** A tick or lot size: `units` / 10^`decimals`. */
export interface Increment {
  readonly units: bigint;
  readonly decimals: number;
}

/** What one epoch trades by; every epoch's first record carries them, so that replay never depends on a file. */
export interface TradingRules {
  readonly tradingPair: string;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly tick: Increment;
  readonly lot: Increment;
}

/** Throws a RangeError that names the offending value. */
export const tradingRules = (tradingPair: string, tickSize: string, lotSize: string): TradingRules => ({
  tradingPair,
  tickSize,
  lotSize,
  tick: increment("tickSize", tickSize),
  lot: increment("lotSize", lotSize),
});

const decimalPattern = /^(\d{1,18})(?:\.(\d{1,18}))?$/;

const increment = (name: string, text: string): Increment => {
  const size = parseDecimal(text);
  if (size === null || size.units === 0n) {
    throw new RangeError(`${name} must be a positive decimal such as "0.01", not ${JSON.stringify(text)}`);
  }
  return size;
};

const parseDecimal = (text: string): Increment | null => {
  const match = decimalPattern.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = ""] = match;
  return { units: BigInt(whole + fraction), decimals: fraction.length };
};

/** How many increments `text` is: null unless it is a positive decimal and a whole, exactly representable number of them. */
export const toIncrements = (text: string, size: Increment): number | null => {
  const value = parseDecimal(text);
  if (value === null) return null;
  return wholeNumber(value.units * tenTo(size.decimals), size.units * tenTo(value.decimals));
};

/** The decimal string of `count` increments, with all decimals of the increment. */
export const fromIncrements = (count: number, size: Increment): string => {
  const digits = (BigInt(count) * size.units).toString().padStart(size.decimals + 1, "0");
  if (size.decimals === 0) return digits;
  const point = digits.length - size.decimals;
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
};

/** Expresses `count` of the increment `from` in the increment `to`; null when it is not whole there. */
export const convertIncrements = (count: number, from: Increment, to: Increment): number | null => {
  if (count === 0 || from === to) return count;
  return wholeNumber(BigInt(count) * from.units * tenTo(to.decimals), to.units * tenTo(from.decimals));
};

export const sameRules = (a: TradingRules, b: TradingRules): boolean =>
  a.tradingPair === b.tradingPair && a.tickSize === b.tickSize && a.lotSize === b.lotSize;

const tenTo = (exponent: number): bigint => 10n ** BigInt(exponent);

const wholeNumber = (dividend: bigint, divisor: bigint): number | null => {
  if (dividend % divisor !== 0n) return null;
  const quotient = dividend / divisor;
  return quotient > 0n && quotient <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(quotient) : null;
};
