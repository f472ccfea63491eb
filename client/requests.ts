import type { OrderType, SelfTradePrevention, Side, TimeInForce } from "../engine/book/terms.ts";
import { toIncrements } from "../engine/exchange/tradingRules.ts";
import type { FrameWriter } from "../engine/orders/stream/frameWriter.ts";
import type { OrderResult, Sizes } from "./results.ts";
import type { StreamConnection } from "./streamConnection.ts";

/** Names an order: client ids are unique within an account. */
export interface OrderId {
  /** 1 to 64 of the characters A-Z a-z 0-9 . _ : - */
  readonly clientId: string;
  /** Default: nobody's. */
  readonly account?: string;
}

/** A new order. Prices and quantities are decimals, such as "100.25". */
export interface OrderRequest extends OrderId {
  readonly side: Side;
  readonly type: OrderType;
  /** Worst acceptable price of a limit or stop-limit order; absent for the others. */
  readonly price?: string;
  /** Of a stop or stop-limit order; absent for the others. */
  readonly stopPrice?: string;
  readonly quantity: string;
  /** Default: gtc. */
  readonly timeInForce?: TimeInForce;
  /** Refuse it rather than let it trade at once. Default: false. */
  readonly postOnly?: boolean;
  /** Default: cancelNewest. */
  readonly selfTrade?: SelfTradePrevention;
}

/** An order with a new client id in the place of `target`, of the same account. What is absent stays as it is. */
export interface ReplaceRequest extends OrderId {
  readonly target: string;
  readonly price?: string;
  readonly stopPrice?: string;
  readonly quantity?: string;
}

export type Question =
  | { readonly kind: "place"; readonly order: OrderRequest }
  | { readonly kind: "replace"; readonly order: ReplaceRequest }
  | { readonly kind: "cancel" | "find"; readonly order: OrderId };

export type Refused = Extract<OrderResult, { kind: "refused" }>;

/** A request that has no result yet, and what is known of its attempts. */
export class PendingRequest {
  readonly correlation: number;
  readonly question: Question;
  readonly deadline: number;
  /** Last record that was known to be committed when this was asked. */
  readonly after: number;
  readonly resolve: (result: OrderResult) => void;
  attempts = 0;
  /** Where the latest attempt is under way; null when it has ended. */
  connection: StreamConnection | null = null;
  /** When to send it again; never by itself while an attempt is under way. */
  retryAt = Number.POSITIVE_INFINITY;
  /** Some attempt may have been done. */
  #inDoubt = false;
  #refused: Refused | null = null;

  constructor(
    correlation: number,
    question: Question,
    deadline: number,
    after: number,
    resolve: (result: OrderResult) => void,
  ) {
    this.correlation = correlation;
    this.question = question;
    this.deadline = deadline;
    this.after = after;
    this.resolve = resolve;
  }

  sent(connection: StreamConnection): void {
    // An earlier attempt that was not answered may still be done.
    if (this.connection !== null) this.#inDoubt = true;
    this.attempts += 1;
    this.connection = connection;
    this.retryAt = Number.POSITIVE_INFINITY;
  }

  /** The attempt's connection is gone, without an answer. */
  lost(): void {
    this.#inDoubt = true;
    this.connection = null;
    this.retryAt = 0;
  }

  /** The attempt was answered, and is to be repeated at `at`; `refused` when it was certainly not done. */
  retry(at: number, refused: Refused | null): void {
    if (refused === null) this.#inDoubt = true;
    this.#refused = refused;
    this.connection = null;
    this.retryAt = at;
  }

  /** The result when nothing more is tried. */
  outcomeSoFar(detail: string): OrderResult {
    if (this.#inDoubt || this.connection !== null) return { kind: "unresolved", detail };
    return this.#refused ?? { kind: "refused", code: "NOT_SENT", detail: `${detail}, and no primary was found` };
  }
}

/** Encodes `request` in the ticks and lots of the stream. Answers why when it cannot be expressed. */
export const encodeRequest = (request: PendingRequest, sizes: Sizes, out: FrameWriter): Refused | null => {
  const { correlation, question, after } = request;
  const { clientId, account = "" } = question.order;
  if (!idPattern.test(clientId)) return refuse("BAD_CLIENT_ID", `clientId must be 1 to 64 of the ${idCharacters}`);
  if (account !== "" && !idPattern.test(account)) {
    return refuse("BAD_ACCOUNT", `account must be up to 64 of the ${idCharacters}`);
  }
  switch (question.kind) {
    case "cancel":
      out.cancel(correlation, { clientId, account });
      return null;
    case "find":
      out.find(correlation, { clientId, account });
      return null;
    case "place": {
      const numbers = readNumbers(question.order, sizes);
      if ("kind" in numbers) return numbers;
      const { side, type, timeInForce = "gtc", postOnly = false, selfTrade = "cancelNewest" } = question.order;
      out.place(correlation, { clientId, account, side, type, ...numbers, timeInForce, postOnly, selfTrade, after });
      return null;
    }
    case "replace": {
      const { target } = question.order;
      if (!idPattern.test(target)) return refuse("BAD_CLIENT_ID", `target must be 1 to 64 of the ${idCharacters}`);
      const numbers = readNumbers(question.order, sizes);
      if ("kind" in numbers) return numbers;
      out.replace(correlation, { clientId, account, target, ...numbers, after });
      return null;
    }
  }
};

interface Numbers {
  readonly price: number;
  readonly stopPrice: number;
  readonly quantity: number;
}

/** Ticks and lots; 0 for what is absent. The engine decides what a type of order needs. */
const readNumbers = (order: ReplaceRequest | OrderRequest, { tick, lot }: Sizes): Numbers | Refused => {
  const price = order.price === undefined ? 0 : toIncrements(order.price, tick);
  if (price === null) return refuse("BAD_PRICE", "the price must be a positive multiple of the tick size");
  const stopPrice = order.stopPrice === undefined ? 0 : toIncrements(order.stopPrice, tick);
  if (stopPrice === null)
    return refuse("BAD_STOP_PRICE", "the stop price must be a positive multiple of the tick size");
  const quantity = order.quantity === undefined ? 0 : toIncrements(order.quantity, lot);
  if (quantity === null) return refuse("BAD_QUANTITY", "the quantity must be a positive multiple of the lot size");
  return { price, stopPrice, quantity };
};

const idPattern = /^[A-Za-z0-9._:-]{1,64}$/;
const idCharacters = "characters A-Z a-z 0-9 . _ : -";

const refuse = (code: Refused["code"], detail: string): Refused => ({ kind: "refused", code, detail });
