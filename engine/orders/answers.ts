import type { DepthLevel } from "../book/orderBook.ts";
import type { CancelResult, Exchange, OrderResult } from "../exchange/exchange.ts";
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
      return { status: 200, body: orderBody(outcome.result, outcome.duplicate) };
    case "cancelled":
      return { status: 200, body: cancelBody(outcome.result, outcome.duplicate) };
    default: {
      const { status, code, detail } = problemOf(outcome);
      return problem(status, code, detail);
    }
  }
};

/** The same for every way in: a stable code, its HTTP status, and words for people. */
export const problemOf = (outcome: Exclude<OrderOutcome, { kind: "placed" | "cancelled" }>): Problem => {
  switch (outcome.kind) {
    case "clientIdReused":
      return refuse(409, "CLIENT_ID_REUSED", "this clientId was used for another order; choose a new one");
    case "notFound":
      return refuse(404, "NOT_FOUND", "no order has this clientId");
    case "final":
      return refuse(409, "ORDER_FINAL", `the order is ${outcome.result.status}; nothing of it is left in the book`);
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

const orderBody = (result: OrderResult, duplicate: boolean) => ({
  epoch: result.position.epoch,
  seq: result.position.seq,
  orderId: orderIdOf(result),
  clientId: result.order.clientId,
  status: result.status,
  filledQuantity: fromIncrements(result.filled, result.rules.lot),
  trades: result.fills.map((fill, index) => ({
    tradeId: `${result.position.seq}-${index + 1}`,
    price: fromIncrements(fill.price, result.rules.tick),
    quantity: fromIncrements(fill.quantity, result.rules.lot),
  })),
  duplicate,
});

const cancelBody = (result: CancelResult, duplicate: boolean) => ({
  epoch: result.position.epoch,
  seq: result.position.seq,
  orderId: orderIdOf(result.order),
  clientId: result.order.order.clientId,
  status: "cancelled",
  filledQuantity: fromIncrements(result.filled, result.rules.lot),
  trades: [],
  duplicate,
});

const orderIdOf = ({ position }: OrderResult): string => `${position.epoch}-${position.seq}`;
