import assert from "node:assert/strict";

import type { Order } from "../book/order.ts";
import type { Applied, Exchange } from "../exchange/exchange.ts";
import type { SlowEffect, SlowExchange, SlowOrder } from "./slowExchange.ts";

/** Throws unless the exchange did with one record what the model did. */
export const assertSameEffect = (applied: Applied, expected: SlowEffect): void => {
  const { effect } = applied;
  assert.deepEqual(
    {
      kind: applied.kind,
      id: "order" in applied ? (applied.order?.seq ?? null) : null,
      duplicate: "duplicate" in applied && applied.duplicate,
      trades: effect.trades.map(({ maker, taker, price, quantity }) => ({
        maker: maker.seq,
        taker: taker.seq,
        price,
        quantity,
      })),
      rested: effect.rested.map(({ seq }) => seq),
      ended: effect.ended.map(({ seq, status, reason }) => ({ id: seq, status, reason })),
      reduced: effect.reduced.map(({ seq }) => seq),
      triggered: effect.triggered.map(({ seq }) => seq),
    },
    expected,
  );
};

/** Throws unless both hold the same orders in the same places, and the book's sums are right. */
export const assertSameState = (exchange: Exchange, model: SlowExchange): void => {
  const { book } = exchange;
  assert.deepEqual([...book.orders()].map(ofReal), [...model.queue("buy"), ...model.queue("sell")].map(ofModel));
  assert.deepEqual([...book.stops()].map(ofReal), [...model.stops("buy"), ...model.stops("sell")].map(ofModel));
  assert.equal(exchange.knownOrders, model.orders.length);
  assert.equal(book.lastPrice, model.lastPrice);
  for (const order of model.orders) {
    const { account, clientId } = order.request;
    const known = exchange.orderOf(clientId, account);
    assert.ok(known !== undefined, `${clientId} is known`);
    const { status, reason, filled } = known.answer;
    assert.deepEqual(
      { ...ofReal(known), answer: { status, reason, filled } },
      { ...ofModel(order), answer: order.answer },
    );
  }
  for (const side of ["buy", "sell"] as const) assert.deepEqual(book.depth(side, 1_000), depthOf(model.queue(side)));
};

const ofReal = (order: Order) => ({
  id: order.seq,
  status: order.status,
  reason: order.reason,
  open: order.remaining,
  filled: order.filled,
});

const ofModel = ({ id, status, reason, open, filled }: SlowOrder) => ({ id, status, reason, open, filled });

const depthOf = (queue: readonly SlowOrder[]) => {
  const prices = [...new Set(queue.map(({ limit }) => limit))];
  return prices.map((price) => {
    const orders = queue.filter(({ limit }) => limit === price);
    return { price, quantity: orders.reduce((sum, { open }) => sum + open, 0), orders: orders.length };
  });
};
