import type { OrderStatus, Reason, Side } from "../book/terms.ts";
import type { CancelOrder, PlaceOrder, ReplaceOrder } from "../journal/record.ts";

/** An order as the model sees it: a row of one unsorted table. */
export interface SlowOrder {
  readonly id: number;
  readonly request: PlaceOrder | ReplaceOrder;
  readonly side: Side;
  /** null: any price. */
  readonly limit: number | null;
  /** null: never waited, or was triggered. */
  stop: number | null;
  readonly total: number;
  readonly instruction: Pick<PlaceOrder, "timeInForce" | "postOnly" | "selfTrade">;
  open: number;
  filled: number;
  /** Rank among those at one price. */
  turn: number;
  status: OrderStatus;
  reason: Reason | null;
  endedAt: number;
  answer: { readonly status: OrderStatus; readonly reason: Reason | null; readonly filled: number };
}

export interface SlowTrade {
  readonly maker: number;
  readonly taker: number;
  readonly price: number;
  readonly quantity: number;
}

export interface SlowEffect {
  kind: string;
  id: number | null;
  duplicate: boolean;
  trades: SlowTrade[];
  rested: number[];
  ended: { readonly id: number; readonly status: OrderStatus; readonly reason: Reason | null }[];
  reduced: number[];
  triggered: number[];
}

const isWaitingOrResting = ({ status }: SlowOrder): boolean =>
  status === "resting" || status === "partiallyFilled" || status === "untriggered";
const rests = (order: SlowOrder): boolean => isWaitingOrResting(order) && order.status !== "untriggered";
const whole = (value: number): boolean => Number.isInteger(value) && value >= 0 && value < 2 ** 53;

/**
 * The exchange written from its rules alone, to be compared with the real one: one list of orders, searched and sorted from the
 * start for every single step. It shares no code with the real one, and no idea of how that does it.
 */
export class SlowExchange {
  /** All orders whose client id is known, in the order in which they came. */
  orders: SlowOrder[] = [];
  lastPrice: number | null = null;
  readonly #window: number;
  #finals: SlowOrder[] = [];
  #effect: SlowEffect = nothing();
  #seq = 0;
  #turns = 0;

  constructor(window: number) {
    this.#window = window;
  }

  apply(seq: number, command: PlaceOrder | ReplaceOrder | CancelOrder): SlowEffect {
    this.#seq = seq;
    this.#effect = nothing();
    if (command.kind === "cancel") this.#cancel(command);
    else this.#bring(command);
    for (let count = 0; count < 8; count += 1) {
      const oldest = this.#finals[0];
      if (oldest === undefined || oldest.endedAt + this.#window >= seq) break;
      this.#finals = this.#finals.slice(1);
      this.orders = this.orders.filter((order) => order !== oldest);
    }
    return this.#effect;
  }

  /** What rests on a side, by priority. */
  queue(side: Side): SlowOrder[] {
    const worse = side === "buy" ? -1 : 1;
    return this.orders
      .filter((order) => rests(order) && order.side === side)
      .sort((a, b) => worse * ((a.limit ?? 0) - (b.limit ?? 0)) || a.turn - b.turn);
  }

  /** What waits for a stop price on a side, in the order in which it would be triggered. */
  stops(side: Side): SlowOrder[] {
    const later = side === "buy" ? 1 : -1;
    return this.orders
      .filter((order) => order.status === "untriggered" && order.side === side)
      .sort((a, b) => later * ((a.stop ?? 0) - (b.stop ?? 0)) || a.turn - b.turn);
  }

  find(account: string, clientId: string): SlowOrder | undefined {
    return this.orders.find(({ request }) => request.account === account && request.clientId === clientId);
  }

  #cancel({ account, clientId }: CancelOrder): void {
    const order = this.find(account, clientId);
    const effect = this.#effect;
    effect.id = order?.id ?? null;
    if (order !== undefined && isWaitingOrResting(order)) {
      this.#end(order, "cancelled", "REQUESTED");
      effect.kind = "cancelled";
    } else if (order?.reason === "REQUESTED") {
      effect.kind = "cancelled";
      effect.duplicate = true;
    } else {
      effect.kind = "nothingToCancel";
    }
  }

  #bring(request: PlaceOrder | ReplaceOrder): void {
    const effect = this.#effect;
    const known = this.find(request.account, request.clientId);
    if (known !== undefined) {
      const same = { ...known.request, after: 0 };
      effect.id = known.id;
      effect.duplicate = JSON.stringify(sorted(same)) === JSON.stringify(sorted({ ...request, after: 0 }));
      effect.kind = effect.duplicate ? "order" : "clientIdReused";
      return;
    }
    effect.kind = "order";
    effect.id = this.#seq;
    const fault =
      faultIn(request) ?? (request.after > 0 && this.#seq > request.after + this.#window ? "CLIENT_ID_EXPIRED" : null);
    if (fault !== null) {
      effect.ended.push({ id: this.#seq, status: "rejected", reason: fault });
      return;
    }
    if (request.kind === "order") this.#enter(this.#row(request, request, request.quantity, 0), null);
    else this.#replace(request);
  }

  #row(
    request: PlaceOrder | ReplaceOrder,
    terms: Omit<PlaceOrder, "kind" | "account" | "clientId" | "after">,
    open: number,
    filled: number,
  ): SlowOrder {
    const waits = terms.type === "stop" || terms.type === "stopLimit";
    const status: OrderStatus = waits ? "untriggered" : "resting";
    return {
      id: this.#seq,
      request,
      side: terms.side,
      limit: terms.type === "market" || terms.type === "stop" ? null : terms.price,
      stop: waits ? terms.stopPrice : null,
      total: terms.quantity,
      instruction: terms,
      open,
      filled,
      turn: this.#takeTurn(),
      status,
      reason: null,
      endedAt: 0,
      answer: { status, reason: null, filled },
    };
  }

  #replace(request: ReplaceOrder): void {
    const target = this.find(request.account, request.target);
    const refused = (reason: Reason): void => {
      const terms = {
        side: "buy",
        type: "limit",
        price: 1,
        stopPrice: 0,
        quantity: 1,
        timeInForce: "gtc",
        postOnly: false,
        selfTrade: "cancelNewest",
      } as const;
      const row = this.#row(request, terms, 0, 0);
      this.orders.push(row);
      this.#end(row, "rejected", reason);
      row.answer = { status: "rejected", reason, filled: 0 };
    };
    if (target === undefined) {
      refused("NOT_FOUND");
      return;
    }
    if (!isWaitingOrResting(target)) {
      refused("ORDER_FINAL");
      return;
    }
    const waits = target.status === "untriggered";
    if (waits && target.limit === null && request.price > 0) {
      refused("BAD_PRICE");
      return;
    }
    if (!waits && request.stopPrice > 0) {
      refused("BAD_STOP_PRICE");
      return;
    }
    const open = request.quantity > 0 ? request.quantity - target.filled : target.open;
    if (open < 1) {
      refused("QUANTITY_FILLED");
      return;
    }
    const limit = request.price > 0 ? request.price : target.limit;
    const stop = waits ? (request.stopPrice > 0 ? request.stopPrice : target.stop) : null;
    const stays = limit === target.limit && stop === target.stop && open <= target.open;
    const type = waits ? (limit === null ? "stop" : "stopLimit") : "limit";
    const total = request.quantity > 0 ? request.quantity : target.total;
    const terms = {
      ...target.instruction,
      side: target.side,
      type,
      price: limit ?? 0,
      stopPrice: stop ?? 0,
      quantity: total,
    } as const;
    const row = this.#row(request, terms, open, target.filled);
    if (!stays) {
      this.#enter(row, target);
      return;
    }
    if (row.instruction.postOnly && this.#bestAgainst(row) !== undefined) {
      this.#refuse(row, "WOULD_CROSS");
      return;
    }
    row.turn = target.turn;
    this.orders.push(row);
    this.#end(target, "cancelled", "REPLACED");
    if (!waits) {
      row.status = target.filled > 0 ? "partiallyFilled" : "resting";
      this.#effect.rested.push(row.id);
    }
    row.answer = { status: row.status, reason: null, filled: row.filled };
  }

  #takeTurn(): number {
    this.#turns += 1;
    return this.#turns;
  }

  #refuse(row: SlowOrder, reason: Reason): void {
    this.orders.push(row);
    this.#end(row, "rejected", reason);
    row.answer = { status: "rejected", reason, filled: row.filled };
  }

  /** Takes in an order, in the place of `target` if there is one. */
  #enter(row: SlowOrder, target: SlowOrder | null): void {
    if (row.instruction.postOnly && this.#bestAgainst(row) !== undefined) {
      this.#refuse(row, "WOULD_CROSS");
      return;
    }
    if (!this.#fits(row, target, row.stop !== null)) {
      this.#refuse(row, "LEVEL_OVERFLOW");
      return;
    }
    if (target !== null) this.#end(target, "cancelled", "REPLACED");
    this.orders.push(row);
    if (row.stop !== null && !(this.lastPrice !== null && hasReached(row, this.lastPrice))) {
      row.answer = { status: "untriggered", reason: null, filled: row.filled };
      return;
    }
    let fresh = this.#execute(row);
    row.answer = { status: row.status, reason: row.reason, filled: row.filled };
    const queue: SlowOrder[] = [];
    for (;;) {
      for (const side of ["buy", "sell"] as const) {
        const reached = this.stops(side).filter((stop) => fresh.some(({ price }) => hasReached(stop, price)));
        queue.push(...reached.filter((stop) => !queue.includes(stop)));
      }
      const next = queue.find(({ stop }) => stop !== null);
      if (next === undefined) return;
      next.stop = null;
      this.#effect.triggered.push(next.id);
      fresh = this.#execute(next);
    }
  }

  /** Lets an order trade and settles what is left of it; answers its trades. */
  #execute(taker: SlowOrder): SlowTrade[] {
    // Not in the book while it trades.
    this.orders = this.orders.filter((order) => order !== taker);
    taker.stop = null;
    const before = this.#effect.trades.length;
    if (taker.instruction.timeInForce === "fok" && !this.#tradesWhole(taker))
      this.#end(taker, "cancelled", "FILL_OR_KILL");
    else this.#deal(taker);
    this.orders.push(taker);
    if (isWaitingOrResting(taker)) {
      if (taker.limit === null) this.#end(taker, "cancelled", "NO_LIQUIDITY");
      else if (taker.instruction.timeInForce === "ioc") this.#end(taker, "cancelled", "IMMEDIATE_OR_CANCEL");
      else if (!this.#fits(taker, taker, false)) this.#end(taker, "cancelled", "LEVEL_OVERFLOW");
      else {
        taker.turn = this.#takeTurn();
        taker.status = taker.filled > 0 ? "partiallyFilled" : "resting";
        this.#effect.rested.push(taker.id);
      }
    }
    return this.#effect.trades.slice(before);
  }

  #deal(taker: SlowOrder): void {
    for (
      let maker = this.#bestAgainst(taker);
      maker !== undefined && taker.open > 0;
      maker = this.#bestAgainst(taker)
    ) {
      if (!this.#pair(maker, taker)) return;
    }
  }

  /** One trade, or what self-trade prevention makes of it. False when the taker is done. */
  #pair(maker: SlowOrder, taker: SlowOrder): boolean {
    const quantity = Math.min(maker.open, taker.open);
    const own = maker.request.account === taker.request.account && maker.request.account !== "";
    const mode = taker.instruction.selfTrade;
    if (own) {
      if (mode === "cancelOldest" || mode === "cancelBoth") this.#end(maker, "cancelled", "SELF_TRADE");
      if (mode === "cancelNewest" || mode === "cancelBoth") this.#end(taker, "cancelled", "SELF_TRADE");
      if (mode !== "decrementBoth") return mode === "cancelOldest";
    }
    maker.open -= quantity;
    taker.open -= quantity;
    if (!own) {
      maker.filled += quantity;
      taker.filled += quantity;
      maker.status = "partiallyFilled";
      this.lastPrice = maker.limit;
      this.#effect.trades.push({ maker: maker.id, taker: taker.id, price: maker.limit ?? 0, quantity });
    }
    for (const order of [maker, taker]) {
      if (order.open > 0 && own) this.#effect.reduced.push(order.id);
      if (order.open === 0) this.#end(order, own ? "cancelled" : "filled", own ? "SELF_TRADE" : null);
    }
    return taker.open > 0;
  }

  /** Tries it on a copy of everything. */
  #tradesWhole(taker: SlowOrder): boolean {
    const trial = new SlowExchange(this.#window);
    trial.orders = structuredClone(this.orders);
    const copy = structuredClone(taker);
    trial.#deal(copy);
    return copy.filled - taker.filled === taker.open;
  }

  #bestAgainst(taker: SlowOrder): SlowOrder | undefined {
    const [best] = this.queue(taker.side === "buy" ? "sell" : "buy");
    if (best?.limit == null) return undefined;
    if (taker.limit === null) return best;
    return (taker.side === "buy" ? best.limit <= taker.limit : best.limit >= taker.limit) ? best : undefined;
  }

  /** Whether the sums of its prices stay exact with `row` in the place of `target`. */
  #fits(row: SlowOrder, target: SlowOrder | null, waits: boolean): boolean {
    const fitsBeside = (others: readonly SlowOrder[]): boolean =>
      others.reduce((sum, { open }) => sum + BigInt(open), BigInt(row.open)) < 2n ** 53n;
    const others = this.orders.filter((order) => order !== target && order.side === row.side);
    if (waits && !fitsBeside(others.filter((order) => order.status === "untriggered" && order.stop === row.stop)))
      return false;
    return row.limit === null || fitsBeside(others.filter((order) => rests(order) && order.limit === row.limit));
  }

  #end(order: SlowOrder, status: "filled" | "cancelled" | "rejected", reason: Reason | null): void {
    order.status = status;
    order.reason = reason;
    order.open = 0;
    order.endedAt = this.#seq;
    this.#finals.push(order);
    this.#effect.ended.push({ id: order.id, status, reason });
  }
}

const nothing = (): SlowEffect => ({
  kind: "",
  id: null,
  duplicate: false,
  trades: [],
  rested: [],
  ended: [],
  reduced: [],
  triggered: [],
});

const sorted = (value: object): unknown => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));

const hasReached = ({ side, stop }: SlowOrder, price: number): boolean =>
  stop !== null && (side === "buy" ? price >= stop : price <= stop);

const faultIn = (request: PlaceOrder | ReplaceOrder): Reason | null => {
  const name = /^[\w.:-]+$/;
  const { clientId, account, price, stopPrice, quantity, after } = request;
  if (clientId.length > 64 || !name.test(clientId)) return "BAD_CLIENT_ID";
  if (account !== "" && (account.length > 64 || !name.test(account))) return "BAD_ACCOUNT";
  if (!whole(after)) return "BAD_AFTER";
  if (request.kind === "replace") {
    if (request.target.length > 64 || !name.test(request.target)) return "BAD_CLIENT_ID";
    if (!whole(quantity)) return "BAD_QUANTITY";
    if (!whole(price)) return "BAD_PRICE";
    return whole(stopPrice) ? null : "BAD_STOP_PRICE";
  }
  const { type, timeInForce, postOnly } = request;
  if (!whole(quantity) || quantity === 0) return "BAD_QUANTITY";
  const priced = type === "limit" || type === "stopLimit";
  if (!whole(price) || priced !== price > 0) return "BAD_PRICE";
  const waits = type === "stop" || type === "stopLimit";
  if (!whole(stopPrice) || waits !== stopPrice > 0) return "BAD_STOP_PRICE";
  return postOnly && (type !== "limit" || timeInForce !== "gtc") ? "BAD_POST_ONLY" : null;
};
