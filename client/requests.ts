import { toIncrements } from "../engine/exchange/tradingRules.ts";
import type { FrameWriter } from "../engine/orders/stream/frameWriter.ts";
import type { OrderResult, Sizes } from "./results.ts";
import type { StreamConnection } from "./streamConnection.ts";

/** A new order. Prices and quantities are decimals, such as "100.25". */
export interface OrderRequest {
  /** 1 to 64 of the characters A-Z a-z 0-9 . _ : - */
  readonly clientId: string;
  readonly side: "buy" | "sell";
  readonly type: "limit" | "market";
  /** A limit order's worst acceptable price; absent for a market order. */
  readonly price?: string;
  readonly quantity: string;
}

export type Question =
  | { readonly kind: "place"; readonly order: OrderRequest }
  | { readonly kind: "cancel" | "find"; readonly clientId: string };

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

  get clientId(): string {
    return this.question.kind === "place" ? this.question.order.clientId : this.question.clientId;
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
  const { correlation, question, clientId } = request;
  if (!clientIdPattern.test(clientId)) {
    return refuse("BAD_CLIENT_ID", "clientId must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -");
  }
  switch (question.kind) {
    case "cancel":
      out.cancel(correlation, clientId);
      return null;
    case "find":
      out.find(correlation, clientId);
      return null;
    case "place":
      return encodeOrder(correlation, question.order, sizes, out);
  }
};

const encodeOrder = (
  correlation: number,
  { clientId, side, type, price: limit, quantity: amount }: OrderRequest,
  { tick, lot }: Sizes,
  out: FrameWriter,
): Refused | null => {
  if (type === "market" && limit !== undefined) return refuse("BAD_PRICE", "a market order takes any price");
  const price = type === "market" ? 0 : toIncrements(limit ?? "", tick);
  if (price === null) return refuse("BAD_PRICE", "the price must be a positive multiple of the tick size");
  const quantity = toIncrements(amount, lot);
  if (quantity === null) return refuse("BAD_QUANTITY", "the quantity must be a positive multiple of the lot size");
  out.place(correlation, { clientId, side, type, price, quantity });
  return null;
};

const clientIdPattern = /^[A-Za-z0-9._:-]{1,64}$/;

const refuse = (code: Refused["code"], detail: string): Refused => ({ kind: "refused", code, detail });
