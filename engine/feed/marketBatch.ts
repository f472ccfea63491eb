import type { Side } from "../book/terms.ts";

/** One trade, in ticks and lots. `side` is the taker's. */
export interface MarketTrade {
  readonly price: number;
  readonly quantity: number;
  readonly side: Side;
}

/** What a price level holds after the record; nothing when `orders` is 0. */
export interface MarketLevel {
  readonly side: Side;
  readonly price: number;
  readonly quantity: number;
  readonly orders: number;
}

/** What one applied record did to the market. Best prices are 0 while there is none. */
export interface MarketEvent {
  readonly seq: number;
  readonly epoch: number;
  readonly bestBid: number;
  readonly bestAsk: number;
  readonly trades: readonly MarketTrade[];
  readonly levels: readonly MarketLevel[];
}

const headNumbers = 6;
const tradeNumbers = 3;
const levelNumbers = 4;

/**
 * Events as plain numbers, on their way to the feed's thread: an array of doubles changes threads without a copy, and
 * costs the engine's thread no object.
 *
 *     seq, epoch, bestBid, bestAsk, trades, levels, then 3 numbers for each trade and 4 for each level
 */
export class MarketBatchWriter {
  #numbers = new Float64Array(4_096);
  #used = 0;

  get isEmpty(): boolean {
    return this.#used === 0;
  }

  add(event: MarketEvent): void {
    const { trades, levels } = event;
    this.#reserve(headNumbers + trades.length * tradeNumbers + levels.length * levelNumbers);
    this.#put(event.seq, event.epoch, event.bestBid, event.bestAsk);
    this.#put(trades.length, levels.length);
    for (const { price, quantity, side } of trades) this.#put(price, quantity, codeOf(side));
    for (const { side, price, quantity, orders } of levels) this.#put(codeOf(side), price, quantity, orders);
  }

  /** Everything added since the last call, in memory of its own. */
  take(): Float64Array<ArrayBuffer> {
    const taken = this.#numbers.slice(0, this.#used);
    this.#used = 0;
    return taken;
  }

  #put(...numbers: readonly number[]): void {
    for (const number of numbers) {
      this.#numbers[this.#used] = number;
      this.#used += 1;
    }
  }

  #reserve(count: number): void {
    if (this.#used + count <= this.#numbers.length) return;
    const larger = new Float64Array((this.#used + count) * 2);
    larger.set(this.#numbers.subarray(0, this.#used));
    this.#numbers = larger;
  }
}

export const readMarketBatch = (batch: Float64Array): MarketEvent[] => {
  const events: MarketEvent[] = [];
  let at = 0;
  const next = (): number => {
    at += 1;
    return batch[at - 1] ?? 0;
  };
  while (at < batch.length) {
    const [seq, epoch, bestBid, bestAsk] = [next(), next(), next(), next()];
    const [tradeCount, levelCount] = [next(), next()];
    const trades = Array.from({ length: tradeCount }, () => ({
      price: next(),
      quantity: next(),
      side: sideOf(next()),
    }));
    const levels = Array.from({ length: levelCount }, () => ({
      side: sideOf(next()),
      price: next(),
      quantity: next(),
      orders: next(),
    }));
    events.push({ seq, epoch, bestBid, bestAsk, trades, levels });
  }
  return events;
};

const codeOf = (side: Side): number => (side === "buy" ? 0 : 1);
const sideOf = (code: number): Side => (code === 0 ? "buy" : "sell");
