import type { TradingRules } from "../exchange/tradingRules.ts";
import type { PlaceOrder, Position, ReplaceOrder } from "../journal/record.ts";
import type { PriceLevel } from "./priceLevel.ts";
import { isStop, type OrderStatus, type OrderTerms, type Reason } from "./terms.ts";

/** Whose orders do not trade with each other, and one name space of client ids. The account "" stands for nobody. */
export class Account {
  readonly name: string;
  readonly orders = new Map<string, Order>();

  constructor(name: string) {
    this.name = name;
  }
}

/** What was said when the order was applied. It never changes, so that it can be said again. */
export interface Answer {
  readonly status: OrderStatus;
  readonly reason: Reason | null;
  /** Traded by then, by the order that it replaced too. */
  readonly filled: number;
  /** Price and quantity of its trades, one after the other: trade i of record seq has the id `seq-i`, from 1. */
  readonly trades: readonly number[];
}

const noTrades: readonly number[] = [];

const unfilled = (status: OrderStatus): Answer => ({ status, reason: null, filled: 0, trades: noTrades });
/** Nearly every order that waits has one of these: shared, a million of them take no memory. */
const restingAnswer = unfilled("resting");
const untriggeredAnswer = unfilled("untriggered");

export const answerOf = (
  status: OrderStatus,
  reason: Reason | null,
  filled: number,
  trades: readonly number[] = noTrades,
): Answer => {
  if (filled === 0 && status === "resting") return restingAnswer;
  if (filled === 0 && status === "untriggered") return untriggeredAnswer;
  return { status, reason, filled, trades };
};

/**
 * One order: what was asked, what was answered, and where it stands now. All numbers are ticks and lots of `rules`.
 * One object per order and no other, since a million of them must fit into memory.
 */
export class Order {
  readonly epoch: number;
  /** Sequence number of the record that brought it; the order's id. */
  readonly seq: number;
  readonly account: Account;
  request: PlaceOrder | ReplaceOrder;
  /** Those of the request; a replacement has those of the order it replaced where it names none. */
  terms: OrderTerms;
  rules: TradingRules;
  answer: Answer = restingAnswer;

  status: OrderStatus;
  /** Why it was cancelled or rejected. */
  reason: Reason | null = null;
  /** Open quantity: 0 once the order is final. */
  remaining: number;
  filled = 0;
  /** Position of the record that made it final; zeros while it is open. */
  finalEpoch = 0;
  finalSeq = 0;

  /** Where it waits, and its neighbours there. A final order has its successor among the final ones in `next`. */
  level: PriceLevel | null = null;
  previous: Order | null = null;
  next: Order | null = null;

  constructor(
    position: Position,
    account: Account,
    request: PlaceOrder | ReplaceOrder,
    terms: OrderTerms,
    rules: TradingRules,
  ) {
    this.epoch = position.epoch;
    this.seq = position.seq;
    this.account = account;
    this.request = request;
    this.terms = terms;
    this.rules = rules;
    this.status = isStop(terms.type) ? "untriggered" : "resting";
    this.remaining = terms.quantity;
  }

  get clientId(): string {
    return this.request.clientId;
  }

  get position(): Position {
    return { epoch: this.epoch, seq: this.seq };
  }

  get isOpen(): boolean {
    return this.status === "resting" || this.status === "partiallyFilled" || this.status === "untriggered";
  }

  /** Fixes the answer as what is so now; `trades` are its own as far as they are made. */
  giveAnswer(trades: readonly number[] = noTrades): void {
    this.answer = answerOf(this.status, this.reason, this.filled, trades);
  }
}

/** The trades that the order's answer tells of, in their order. */
export const answeredTrades = ({
  answer: { trades },
}: Order): { readonly price: number; readonly quantity: number }[] => {
  const pairs = [];
  for (let at = 0; at < trades.length; at += 2) pairs.push({ price: trades[at] ?? 0, quantity: trades[at + 1] ?? 0 });
  return pairs;
};

/** Whether a trade between the two would be one of an account with itself. */
export const isOwn = (maker: Order, taker: Order): boolean =>
  maker.account === taker.account && taker.account.name !== "";
