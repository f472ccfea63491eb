import type { Side } from "../book/terms.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { MarketLevel } from "./marketBatch.ts";
import type { BookSnapshot } from "./messages.ts";

/** The whole book as of the last applied record. */
export const bookSnapshot = ({ book, appliedSeq, appliedEpoch }: Exchange): BookSnapshot => {
  const levels = (side: Side): MarketLevel[] =>
    book.depth(side, book.levelCount(side)).map((level) => ({ side, ...level }));
  return { seq: appliedSeq, epoch: appliedEpoch, levels: [...levels("buy"), ...levels("sell")] };
};
