import { answeredTrades, type Order } from "../book/order.ts";
import type { DepthLevel } from "../book/priceLevel.ts";
import type { Reason } from "../book/terms.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { fromIncrements, type TradingRules } from "../exchange/tradingRules.ts";
import type { OrderOutcome } from "../replica/orderDesk.ts";
import type { Standing } from "../replica/replica.ts";
import type { ProblemCode } from "./stream/protocol.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Where to send orders instead; null while nobody leads as far as this replica knows. */
export interface Leader {
  readonly instance: string;
  /** host:port of its order entry. */
  readonly orders: string;
}

/** What is not an acknowledgement. */
export type Problem = { readonly status: number; readonly code: ProblemCode; readonly detail: string };

/** The HTTP answer for what became of an order. */
export const answerOf = (outcome: OrderOutcome): HttpAnswer => {
  switch (outcome.kind) {
    case "placed":
      return { status: 200, body: orderBody(outcome.order, outcome.duplicate) };
    case "found":
      return { status: 200, body: { ...orderBody(outcome.order, true), now: nowOf(outcome.order) } };
    case "cancelled":
      return { status: 200, body: cancelBody(outcome.order, outcome.duplicate) };
    default: {
      const { status, code, detail } = problemOf(outcome);
      return problem(status, code, detail);
    }
  }
};

/** The same for every way in: a stable code, its HTTP status, and words for people. */
export const problemOf = (outcome: Exclude<OrderOutcome, { kind: "placed" | "found" | "cancelled" }>): Problem => {
  switch (outcome.kind) {
    case "clientIdReused":
      return refuse(409, "CLIENT_ID_REUSED", "this clientId was used for another order; choose a new one");
    case "notFound":
      return refuse(404, "NOT_FOUND", "no order has this clientId");
    case "final":
      return refuse(409, "ORDER_FINAL", `the order is ${outcome.order.status}; nothing of it is left in the book`);
    case "cannotCommit":
      return refuse(503, "CANNOT_COMMIT", `${outcome.why}; nothing was done, send it again`);
    case "cancelOnly":
      return refuse(503, "CANCEL_ONLY", "only cancellations are taken now; nothing was done, send it again later");
    case "unknown":
      return refuse(504, "UNKNOWN", "not confirmed in time: ask by clientId, or send the same clientId and body again");
  }
};

const refuse = (status: number, code: ProblemCode, detail: string): Problem => ({ status, code, detail });

/** The primary that `standing` follows. */
export const leaderOf = (standing: Standing): Leader | null => {
  if (!("following" in standing) || standing.following === null) return null;
  return { instance: standing.following.link.target.instance, orders: standing.following.orders };
};

export const notPrimary = (leader: Leader | null): HttpAnswer => {
  const { status, body } = problem(421, "NOT_PRIMARY", "this replica does not take orders");
  return { status, body: { ...body, leader } };
};

/** An application/problem+json answer with a stable code. */
export const problem = (status: number, code: string, detail: string) => ({
  status,
  body: { type: "about:blank", title: code.toLowerCase().replaceAll("_", " "), status, code, detail },
});

/** GET /v1/book: the best `depth` levels of both sides after the last applied record. */
export const bookBody = (exchange: Exchange, rules: TradingRules, depth: number) => {
  const level = ({ price, quantity, orders }: DepthLevel) => ({
    price: fromIncrements(price, rules.tick),
    quantity: fromIncrements(quantity, rules.lot),
    orders,
  });
  return {
    seq: exchange.appliedSeq,
    bids: exchange.book.depth("buy", depth).map(level),
    asks: exchange.book.depth("sell", depth).map(level),
  };
};

const orderBody = (order: Order, duplicate: boolean) => ({
  ...identityOf(order),
  status: order.answer.status,
  ...reasonOf(order.answer),
  filledQuantity: fromIncrements(order.answer.filled, order.rules.lot),
  trades: answeredTrades(order).map(({ price, quantity }, index) => ({
    tradeId: `${order.seq}-${index + 1}`,
    price: fromIncrements(price, order.rules.tick),
    quantity: fromIncrements(quantity, order.rules.lot),
  })),
  duplicate,
});

/** Where the order stands after the last applied record; what is said beside it is its first answer. */
const nowOf = (order: Order) => ({
  status: order.status,
  ...reasonOf(order),
  filledQuantity: fromIncrements(order.filled, order.rules.lot),
  remainingQuantity: fromIncrements(order.remaining, order.rules.lot),
});

const cancelBody = (order: Order, duplicate: boolean) => ({
  ...identityOf(order),
  epoch: order.finalEpoch,
  seq: order.finalSeq,
  status: "cancelled",
  filledQuantity: fromIncrements(order.filled, order.rules.lot),
  trades: [],
  duplicate,
});

const identityOf = ({ epoch, seq, clientId, request }: Order) => ({
  epoch,
  seq,
  orderId: `${epoch}-${seq}`,
  clientId,
  ...(request.account === "" ? {} : { account: request.account }),
});

const reasonOf = ({ reason }: { readonly reason: Reason | null }) => (reason === null ? {} : { reason });
