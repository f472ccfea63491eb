import { SlowBook } from "../slowBook.ts";
import type { AppliedRecord, History, JournaledRecord } from "./history.ts";
import { type Violation, violation } from "./violation.ts";

/** Each record once, in order, as the first replica that applied it saw it. */
const onceEach = (applied: readonly AppliedRecord[]): AppliedRecord[] => {
  const bySeq = new Map<number, AppliedRecord>();
  for (const each of applied) if (!bySeq.has(each.seq)) bySeq.set(each.seq, each);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
};

const longest = ({ journals }: History): readonly JournaledRecord[] =>
  [...journals.values()].reduce((best, each) => (each.length > best.length ? each : best), []);

/** I4: who traded with whom, and how much. */
export function* checkTrades(history: History): Generator<Violation> {
  const journal = longest(history);
  const filled = new Map<number, number>();
  for (const { seq, trades } of onceEach(history.applied)) {
    const taker = journal[seq - 1]?.terms;
    const makers = new Set<number>();
    for (const trade of trades) {
      const maker = journal[trade.maker - 1]?.terms;
      if (makers.has(trade.maker)) yield violation("I4", `order ${seq} trades twice with ${trade.maker}`);
      makers.add(trade.maker);
      if (trade.maker >= seq || maker === undefined || maker === null || taker === undefined || taker === null) {
        yield violation("I4", `order ${seq} trades with ${trade.maker}, which is no earlier order`);
        continue;
      }
      if (maker.side === taker.side) yield violation("I4", `orders ${seq} and ${trade.maker} both ${taker.side}`);
      if (!(trade.quantity > 0)) yield violation("I4", `orders ${seq} and ${trade.maker} trade ${trade.quantity}`);
      for (const [order, terms] of [
        [seq, taker],
        [trade.maker, maker],
      ] as const) {
        const sum = (filled.get(order) ?? 0) + trade.quantity;
        filled.set(order, sum);
        if (sum > terms.quantity) yield violation("I4", `order ${order} of ${terms.quantity} has traded ${sum}`);
      }
    }
  }
}

/** I5: an independent, slow book makes the same trades. */
export function* checkPriority(history: History): Generator<Violation> {
  const book = new SlowBook();
  const ids = new Map<string, number>();
  const applied = new Map(onceEach(history.applied).map((each) => [each.seq, each]));
  for (const { seq, kind, clientId, terms } of longest(history)) {
    const seen = applied.get(seq);
    if (seen === undefined || clientId === null) continue;
    if (kind === "cancel") {
      const id = ids.get(clientId);
      if (id !== undefined) book.cancel(id);
      continue;
    }
    if (terms === null || ids.has(clientId)) continue;
    ids.set(clientId, seq);
    const { side, limit, quantity } = terms;
    const wanted = JSON.stringify(book.place({ id: seq, side, limit, quantity }).fills);
    const got = JSON.stringify(
      seen.trades.map(({ maker, price, quantity: traded }) => ({ maker, price, quantity: traded })),
    );
    if (wanted !== got) yield violation("I5", `order ${seq} trades ${got}; by price and time it is ${wanted}`);
  }
}

/** I6: best prices after each record. */
export function* checkSpread({ applied }: History): Generator<Violation> {
  for (const { instance, seq, bid, ask } of applied) {
    if (bid !== null && ask !== null && bid >= ask) {
      yield violation("I6", `after record ${seq} ${instance} has a bid of ${bid} and an ask of ${ask}`);
    }
  }
}

/** I10: trades of orders that were cancelled before. */
export function* checkCancellations(history: History): Generator<Violation> {
  const journal = longest(history);
  const orders = new Map<string, number>();
  const cancelled = new Map<number, number>();
  for (const { seq, effect, trades } of onceEach(history.applied)) {
    const record = journal[seq - 1];
    if (record?.kind === "order" && record.clientId !== null && !orders.has(record.clientId)) {
      orders.set(record.clientId, seq);
    }
    const order = record?.kind === "cancel" ? orders.get(record.clientId ?? "") : undefined;
    if (order !== undefined && effect === "cancelled") cancelled.set(order, seq);
    for (const { maker } of trades) {
      const since = cancelled.get(maker);
      if (since !== undefined) yield violation("I10", `order ${maker}, cancelled at ${since}, trades at ${seq}`);
    }
  }
}
