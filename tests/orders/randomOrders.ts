import type { Random } from "./seededRandom.ts";

/** Body of POST /v1/orders; decimals travel as strings, in whole ticks and lots. */
export interface Order {
  readonly clientId: string;
  readonly type: "limit" | "market";
  readonly side: "buy" | "sell";
  /** Of a limit order only. */
  readonly price?: string;
  readonly quantity: string;
}

/** What the orders of a run look like. */
export interface OrderMix {
  /** Decimal string, as in the engine's configuration. */
  readonly tickSize: string;
  /** Decimal string, as in the engine's configuration. */
  readonly lotSize: string;
  /** Limit prices lie within `spreadTicks` of this many ticks. */
  readonly midTicks: number;
  readonly spreadTicks: number;
  /** Quantities are 1 to this many lots. */
  readonly maxLots: number;
  /** Share of market orders, 0 to 1. */
  readonly marketShare: number;
}

export const defaultMix: OrderMix = {
  tickSize: "0.01",
  lotSize: "0.00001",
  midTicks: 10_000,
  // Buys and sells overlap by half, so that most orders trade and the book stays small.
  spreadTicks: 20,
  maxLots: 50_000,
  marketShare: 0.2,
};

/** One order drawn from `mix`. */
export function randomOrder(clientId: string, mix: OrderMix, random: Random): Order {
  const side = random() < 0.5 ? "buy" : "sell";
  const quantity = unitsToDecimal(1 + Math.floor(random() * mix.maxLots), mix.lotSize);
  if (random() < mix.marketShare) return { clientId, type: "market", side, quantity };
  const offset = Math.round((random() * 2 - 1) * mix.spreadTicks);
  return { clientId, type: "limit", side, price: unitsToDecimal(mix.midTicks + offset, mix.tickSize), quantity };
}

/** `count` times the decimal `unit`, exactly: floating point would leave fractions of a tick. */
export function unitsToDecimal(count: number, unit: string): string {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(unit);
  if (match === null) throw new Error(`"${unit}" is not a positive decimal such as 0.01`);
  const fraction = match[2] ?? "";
  const digits = (BigInt(`${match[1] ?? ""}${fraction}`) * BigInt(count)).toString();
  if (fraction === "") return digits;
  const padded = digits.padStart(fraction.length + 1, "0");
  return `${padded.slice(0, -fraction.length)}.${padded.slice(-fraction.length)}`;
}
