import { crc32 } from "node:zlib";

import type { Order } from "../book/order.ts";
import type { OrderBook } from "../book/orderBook.ts";
import { orderStatuses, type Reason, reasons } from "../book/terms.ts";
import { packTerms } from "../journal/commandCodec.ts";
import type { Position } from "../journal/record.ts";
import type { ClientIdTable } from "./clientIdTable.ts";
import type { Digest } from "./digest.ts";
import {
  chunkBytes,
  chunkHeaderBytes,
  itemTags,
  longestItemBytes,
  magic,
  orderItem,
  tradesPerItem,
} from "./stateFormat.ts";
import type { TradingRules } from "./tradingRules.ts";

/** All that an exchange's next decision depends on. */
export interface ExchangeState {
  readonly applied: Position;
  readonly rules: TradingRules | null;
  readonly clientIdWindow: number;
  readonly digest: Digest;
  readonly book: OrderBook;
  readonly table: ClientIdTable;
}

/** Writes a state in chunks. Nothing may be applied until the last one is taken: they would tell of different moments. */
export function* writeState(state: ExchangeState): Generator<Buffer> {
  const writer = new StateWriter(state);
  for (const order of ordersOf(state)) {
    if (writer.isFull) yield writer.take();
    writer.order(order);
    const { trades } = order.answer;
    for (let from = 0; from < trades.length; from += tradesPerItem) {
      if (writer.isFull) yield writer.take();
      writer.trades(trades.slice(from, from + tradesPerItem));
    }
  }
  if (writer.isFull) yield writer.take();
  writer.end(state.table.size);
  yield writer.take();
}

function* ordersOf({ book, table }: ExchangeState): Generator<Order> {
  yield* book.orders();
  yield* book.stops();
  yield* table.finals();
}

class StateWriter {
  readonly #rules: TradingRules[] = [];
  #bytes = Buffer.allocUnsafe(chunkBytes);
  #used = chunkHeaderBytes;
  #index = 0;

  constructor({ applied, rules, clientIdWindow, digest, book }: ExchangeState) {
    this.#u8(itemTags.head);
    this.#u32(applied.epoch);
    this.#u32(digest.low);
    this.#u32(digest.high);
    this.#number(applied.seq);
    this.#number(clientIdWindow);
    this.#number(book.lastPrice ?? 0);
    if (rules !== null) this.#rulesNumber(rules);
  }

  /** Whether the next item may not fit. */
  get isFull(): boolean {
    return this.#used > chunkBytes - longestItemBytes;
  }

  /** The chunk so far; the next one begins. */
  take(): Buffer {
    const chunk = this.#bytes.subarray(0, this.#used);
    chunk.writeUInt32LE(magic, 4);
    chunk.writeUInt32LE(this.#index, 8);
    chunk.writeUInt32LE(crc32(chunk.subarray(4)), 0);
    this.#bytes = Buffer.allocUnsafe(chunkBytes);
    this.#used = chunkHeaderBytes;
    this.#index += 1;
    return chunk;
  }

  order(order: Order): void {
    const { request, terms, answer } = order;
    const rules = this.#rulesNumber(order.rules);
    const at = this.#used;
    const bytes = this.#bytes;
    bytes[at] = itemTags.order;
    bytes[at + orderItem.status] = orderStatuses.indexOf(order.status);
    bytes[at + orderItem.reason] = codeOf(order.reason);
    bytes[at + orderItem.answerStatus] = orderStatuses.indexOf(answer.status);
    bytes[at + orderItem.answerReason] = codeOf(answer.reason);
    bytes[at + orderItem.terms] = packTerms(terms);
    bytes[at + orderItem.isReplacement] = request.kind === "replace" ? 1 : 0;
    bytes[at + orderItem.clientIdLength] = request.clientId.length;
    bytes[at + orderItem.accountLength] = request.account.length;
    bytes[at + orderItem.targetLength] = request.kind === "replace" ? request.target.length : 0;
    bytes.writeUInt16LE(rules, at + orderItem.rules);
    bytes.writeUInt32LE(order.epoch, at + orderItem.epoch);
    bytes.writeUInt32LE(order.finalEpoch, at + orderItem.finalEpoch);
    this.#used = at + orderItem.numbers;
    this.#number(order.seq);
    this.#number(order.finalSeq);
    this.#number(order.remaining);
    this.#number(order.filled);
    this.#number(answer.filled);
    this.#number(terms.price);
    this.#number(terms.stopPrice);
    this.#number(terms.quantity);
    this.#number(request.after);
    if (request.kind === "replace") {
      this.#number(request.price);
      this.#number(request.stopPrice);
      this.#number(request.quantity);
    }
    this.#text(request.clientId);
    this.#text(request.account);
    if (request.kind === "replace") this.#text(request.target);
  }

  trades(numbers: readonly number[]): void {
    this.#u8(itemTags.trades);
    this.#u16(numbers.length);
    for (const number of numbers) this.#number(number);
  }

  end(orders: number): void {
    this.#u8(itemTags.end);
    this.#number(orders);
  }

  /** The number of `rules`, which are written when they come for the first time. */
  #rulesNumber(rules: TradingRules): number {
    const known = this.#rules.indexOf(rules);
    if (known !== -1) return known;
    this.#u8(itemTags.rules);
    for (const text of [rules.tradingPair, rules.tickSize, rules.lotSize]) {
      this.#u16(Buffer.byteLength(text));
      this.#used += this.#bytes.write(text, this.#used, "utf8");
    }
    return this.#rules.push(rules) - 1;
  }

  #u8(value: number): void {
    this.#used = this.#bytes.writeUInt8(value, this.#used);
  }

  #u16(value: number): void {
    this.#used = this.#bytes.writeUInt16LE(value, this.#used);
  }

  #u32(value: number): void {
    this.#used = this.#bytes.writeUInt32LE(value, this.#used);
  }

  #number(value: number): void {
    this.#used = this.#bytes.writeDoubleLE(value, this.#used);
  }

  #text(text: string): void {
    this.#used += this.#bytes.write(text, this.#used, "latin1");
  }
}

const codeOf = (reason: Reason | null): number => (reason === null ? 0 : reasons.indexOf(reason) + 1);
