import { crc32 } from "node:zlib";

import { answerOf, Order } from "../book/order.ts";
import { OrderBook } from "../book/orderBook.ts";
import { type OrderTerms, orderStatuses, type Reason, reasons } from "../book/terms.ts";
import { unpackTerms, wordAt } from "../journal/commandCodec.ts";
import type { PlaceOrder, ReplaceOrder } from "../journal/record.ts";
import { ClientIdTable } from "./clientIdTable.ts";
import { Digest } from "./digest.ts";
import { chunkHeaderBytes, itemTags, magic, orderItem, UnreadableState } from "./stateFormat.ts";
import type { ExchangeState } from "./stateWriter.ts";
import { type TradingRules, tradingRules } from "./tradingRules.ts";

/** Reads what {@link writeState} wrote, chunk by chunk. Throws {@link UnreadableState}. */
export class StateReader {
  readonly #table = new ClientIdTable();
  readonly #rules: TradingRules[] = [];
  #state: Omit<ExchangeState, "rules" | "table"> | null = null;
  /** Of the latest order: they follow it. */
  #answerTrades: number[] = [];
  #orders = 0;
  #index = 0;
  #ended = false;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  chunk(bytes: Buffer): void {
    this.#check(bytes);
    this.#bytes = bytes;
    this.#at = chunkHeaderBytes;
    try {
      while (this.#at < bytes.length) this.#item();
    } catch (error) {
      // The checksum was right: whoever wrote this has written something else than this release reads.
      if (error instanceof RangeError) throw damaged(`chunk ${this.#index}: ${error.message}`);
      throw error;
    }
    this.#index += 1;
  }

  /** The whole state, once the last chunk was read. */
  finish(): ExchangeState {
    if (this.#state === null || !this.#ended) throw damaged("the end is missing");
    return { ...this.#state, rules: this.#rules[0] ?? null, table: this.#table };
  }

  #check(bytes: Buffer): void {
    if (bytes.length < chunkHeaderBytes) throw damaged(`chunk ${this.#index} is cut short`);
    if (crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) throw damaged(`chunk ${this.#index} has a wrong checksum`);
    const found = bytes.readUInt32LE(4);
    if (found >>> 8 !== magic >>> 8) throw damaged("this is not the state of an exchange");
    if (found !== magic) {
      throw new UnreadableState(
        "formatTooNew",
        `the state has format ${found & 255}, this release reads ${magic & 255}`,
      );
    }
    const index = bytes.readUInt32LE(8);
    if (index !== this.#index || this.#ended) throw damaged(`chunk ${index} came as chunk ${this.#index}`);
  }

  #item(): void {
    const tag = this.#bytes.readUInt8(this.#at);
    if (this.#ended || (tag === itemTags.head) !== (this.#state === null)) throw damaged("an item is out of its place");
    switch (tag) {
      case itemTags.head:
        this.#head();
        return;
      case itemTags.rules:
        this.#readRules();
        return;
      case itemTags.order:
        this.#order();
        return;
      case itemTags.trades:
        this.#trades();
        return;
      case itemTags.end: {
        this.#at += 1;
        const orders = this.#number();
        if (orders !== this.#orders) throw damaged(`${orders} orders were written and ${this.#orders} read`);
        this.#ended = true;
        return;
      }
      default:
        throw damaged(`item ${tag} is unknown`);
    }
  }

  #head(): void {
    const bytes = this.#bytes;
    const epoch = bytes.readUInt32LE(this.#at + 1);
    const digest = new Digest(bytes.readUInt32LE(this.#at + 5), bytes.readUInt32LE(this.#at + 9));
    this.#at += 13;
    const applied = { epoch, seq: this.#number() };
    const clientIdWindow = this.#number();
    const book = new OrderBook(this.#number() || null);
    this.#state = { applied, clientIdWindow, digest, book };
  }

  #readRules(): void {
    this.#at += 1;
    const text = (): string => {
      const from = this.#at + 2;
      this.#at = from + this.#bytes.readUInt16LE(this.#at);
      return this.#bytes.toString("utf8", from, this.#at);
    };
    this.#rules.push(tradingRules(text(), text(), text()));
  }

  #order(): void {
    if (this.#state === null) return;
    const { book } = this.#state;
    const order = this.#readOrder();
    this.#table.add(order);
    this.#orders += 1;
    if (order.finalSeq > 0) this.#table.finish(order, { epoch: order.finalEpoch, seq: order.finalSeq });
    else if (!book.restore(order)) throw damaged(`order ${order.seq} does not fit into its price level`);
  }

  #readOrder(): Order {
    const bytes = this.#bytes;
    const at = this.#at;
    const code = (offset: number): number => bytes.readUInt8(at + offset);
    this.#at = at + orderItem.numbers;
    const seq = this.#number();
    const finalSeq = this.#number();
    const remaining = this.#number();
    const filled = this.#number();
    const answered = this.#number();
    const words = unpackTerms(code(orderItem.terms));
    const terms: OrderTerms = { ...words, price: this.#number(), stopPrice: this.#number(), quantity: this.#number() };
    const request = this.#request(terms, at);
    const rules = wordAt(this.#rules, bytes.readUInt16LE(at + orderItem.rules));
    const position = { epoch: bytes.readUInt32LE(at + orderItem.epoch), seq };
    const account = this.#table.account(request.account);
    const order = new Order(position, account, request, request.kind === "order" ? request : terms, rules);
    order.status = wordAt(orderStatuses, code(orderItem.status));
    order.reason = reasonOf(code(orderItem.reason));
    order.remaining = remaining;
    order.filled = filled;
    order.finalEpoch = bytes.readUInt32LE(at + orderItem.finalEpoch);
    order.finalSeq = finalSeq;
    this.#answerTrades = [];
    const answerStatus = wordAt(orderStatuses, code(orderItem.answerStatus));
    order.answer = answerOf(answerStatus, reasonOf(code(orderItem.answerReason)), answered, this.#answerTrades);
    return order;
  }

  /** The request of the order at `at`, behind its terms. */
  #request(terms: OrderTerms, at: number): PlaceOrder | ReplaceOrder {
    const after = this.#number();
    const isReplacement = this.#bytes.readUInt8(at + orderItem.isReplacement) === 1;
    const own = isReplacement ? [this.#number(), this.#number(), this.#number()] : [];
    const clientId = this.#text(at + orderItem.clientIdLength);
    const account = this.#text(at + orderItem.accountLength);
    const target = this.#text(at + orderItem.targetLength);
    if (!isReplacement) return { kind: "order", account, clientId, ...terms, after };
    const [price = 0, stopPrice = 0, quantity = 0] = own;
    return { kind: "replace", account, clientId, target, price, stopPrice, quantity, after };
  }

  #trades(): void {
    const count = this.#bytes.readUInt16LE(this.#at + 1);
    this.#at += 3;
    for (let index = 0; index < count; index += 1) this.#answerTrades.push(this.#number());
  }

  #number(): number {
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  /** The text whose length is at `lengthAt`. */
  #text(lengthAt: number): string {
    const from = this.#at;
    this.#at += this.#bytes.readUInt8(lengthAt);
    return from === this.#at ? "" : this.#bytes.toString("latin1", from, this.#at);
  }
}

const reasonOf = (code: number): Reason | null => (code === 0 ? null : wordAt(reasons, code - 1));

const damaged = (detail: string): UnreadableState => new UnreadableState("damaged", detail);
