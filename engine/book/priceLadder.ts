import type { Order } from "./order.ts";
import { type DepthLevel, PriceLevel } from "./priceLevel.ts";

/** Most levels of a block: moving so many pointers costs less than finding the block does. */
const blockSize = 128;

/**
 * Price levels in order, the best one at the end, where nearly all of the trading is. They lie in blocks, so that a
 * new price in the midst of many thousands moves the levels of one block and not all that are better.
 */
export class PriceLadder {
  /** Worst to best, and so are the levels of each; none is empty. */
  readonly #blocks: PriceLevel[][] = [];
  readonly #sign: 1 | -1;
  #levelCount = 0;

  constructor(best: "highest" | "lowest") {
    this.#sign = best === "highest" ? 1 : -1;
  }

  get levelCount(): number {
    return this.#levelCount;
  }

  bestLevel(): PriceLevel | undefined {
    const block = this.#blocks[this.#blocks.length - 1];
    return block?.[block.length - 1];
  }

  find(price: number): PriceLevel | undefined {
    const block = this.#blocks[this.#blockOf(price)];
    const level = block?.[this.#rank(block, price)];
    return level?.price === price ? level : undefined;
  }

  /** The level of `price`, created when it is not there. */
  levelAt(price: number): PriceLevel {
    const at = this.#blockOf(price);
    const block = this.#blocks[at];
    if (block === undefined) return this.#addBetter(new PriceLevel(price));
    const rank = this.#rank(block, price);
    const existing = block[rank];
    if (existing?.price === price) return existing;
    const level = new PriceLevel(price);
    block.splice(rank, 0, level);
    this.#levelCount += 1;
    if (block.length > blockSize) this.#blocks.splice(at + 1, 0, block.splice(blockSize / 2));
    return level;
  }

  drop(level: PriceLevel): void {
    this.#levelCount -= 1;
    const at = this.bestLevel() === level ? this.#blocks.length - 1 : this.#blockOf(level.price);
    const block = this.#blocks[at] ?? [];
    if (block[block.length - 1] === level) block.pop();
    else block.splice(this.#rank(block, level.price), 1);
    if (block.length === 0) this.#blocks.splice(at, 1);
  }

  /** The best `limit` levels, best first. */
  depth(limit: number): DepthLevel[] {
    const depth: DepthLevel[] = [];
    for (const level of this.levels()) {
      if (depth.length === limit) break;
      depth.push(level.summary());
    }
    return depth;
  }

  /** Best first. */
  *levels(): Generator<PriceLevel> {
    for (let at = this.#blocks.length - 1; at >= 0; at -= 1) {
      const block = this.#blocks[at] ?? [];
      for (let rank = block.length - 1; rank >= 0; rank -= 1) yield block[rank] as PriceLevel;
    }
  }

  /** By price-time priority. */
  *orders(): Generator<Order> {
    for (const level of this.levels()) yield* level.orders();
  }

  /** A level that is better than all others. */
  #addBetter(level: PriceLevel): PriceLevel {
    const block = this.#blocks[this.#blocks.length - 1];
    if (block === undefined || block.length === blockSize) this.#blocks.push([level]);
    else block.push(level);
    this.#levelCount += 1;
    return level;
  }

  /** Index of the first block whose best level is not worse than `price`; the number of blocks when there is none. */
  #blockOf(price: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const block = this.#blocks[middle] as PriceLevel[];
      const best = block[block.length - 1] as PriceLevel;
      if ((best.price - price) * this.#sign < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Index of the first level of `block` that is not worse than `price`. */
  #rank(block: readonly PriceLevel[], price: number): number {
    let low = 0;
    let high = block.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const level = block[middle] as PriceLevel;
      if ((level.price - price) * this.#sign < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
