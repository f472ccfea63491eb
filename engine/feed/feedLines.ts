import { fromIncrements, type TradingRules } from "../exchange/tradingRules.ts";
import type { MarketEvent, MarketLevel } from "./marketBatch.ts";
import type { BookSnapshot } from "./messages.ts";

/** [price, quantity, orders]; a level whose orders are 0 is gone. */
type LevelLine = readonly [string, string, number];

/**
 * One event as a line. No record after `previous` and before `seq` changed the market: a reader that has seen `previous`
 * has missed nothing.
 */
export const updateLine = (event: MarketEvent, previous: number, rules: TradingRules): string => {
  const { seq, epoch, bestBid, bestAsk } = event;
  const price = (ticks: number): string => fromIncrements(ticks, rules.tick);
  return line({
    type: "update",
    seq,
    previous,
    epoch,
    trades: event.trades.map((trade, index) => ({
      tradeId: `${seq}-${index + 1}`,
      price: price(trade.price),
      quantity: fromIncrements(trade.quantity, rules.lot),
      side: trade.side,
    })),
    bids: levelsOf(event.levels, "buy", rules),
    asks: levelsOf(event.levels, "sell", rules),
    bid: bestBid === 0 ? null : price(bestBid),
    ask: bestAsk === 0 ? null : price(bestAsk),
    spread: bestBid === 0 || bestAsk === 0 ? null : price(bestAsk - bestBid),
  });
};

/** The whole book after record `seq`. */
export const snapshotLine = (snapshot: BookSnapshot, rules: TradingRules): string => {
  const { seq, epoch, levels } = snapshot;
  const { tradingPair, tickSize, lotSize } = rules;
  const bids = levelsOf(levels, "buy", rules);
  const asks = levelsOf(levels, "sell", rules);
  return line({ type: "snapshot", seq, epoch, tradingPair, tickSize, lotSize, bids, asks });
};

/** Everything up to `seq` is applied, and was told. */
export const heartbeatLine = (seq: number): string => line({ type: "heartbeat", seq });

/** The last line: why nothing more comes, and how to go on. */
export const endLine = (code: string, detail: string): string => line({ type: "end", code, detail });

const levelsOf = (levels: readonly MarketLevel[], side: MarketLevel["side"], rules: TradingRules): LevelLine[] =>
  levels
    .filter((level) => level.side === side)
    .map(({ price, quantity, orders }) => [
      fromIncrements(price, rules.tick),
      fromIncrements(quantity, rules.lot),
      orders,
    ]);

const line = (body: object): string => `${JSON.stringify(body)}\n`;
