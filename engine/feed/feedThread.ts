import { Worker } from "node:worker_threads";

import type { ListenAddress } from "../process/config.ts";
import { FatalError } from "../process/exit.ts";
import { type Log, messageOf } from "../process/log.ts";
import type { CancelTimer, Timers } from "../process/timers.ts";
import { MarketBatchWriter, type MarketEvent } from "./marketBatch.ts";
import type { BookSnapshot, FeedRules, FeedThreadData, FromFeed, ToFeed } from "./messages.ts";

export interface FeedThreadOptions {
  readonly address: ListenAddress;
  readonly timers: Timers;
  readonly log: Log;
  /** The book as of the last applied record. */
  readonly book: () => BookSnapshot;
}

/** Records are handed over this often: a wake-up of the other thread costs more than many records. */
const handOverMs = 5;
/** Numbers that may wait in the other thread. Beyond, it is told to begin anew instead of eating the memory. */
const mostNumbersUnderWay = 8 * 1024 * 1024;

/** The engine's side of the feed's thread. The engine never waits for it, and trades on if it fails. */
export class FeedThread {
  readonly #options: FeedThreadOptions;
  readonly #worker: Worker;
  readonly #batch = new MarketBatchWriter();
  readonly #underWay: number[] = [];
  readonly #cancel: CancelTimer;
  #numbersUnderWay = 0;
  #applied = 0;
  #handedOver = 0;
  #rules: FeedRules | null = null;
  /** Told where the feed begins; nothing is told before. */
  #begun = false;
  /** The other thread has missed something, and has not been told to begin anew yet. */
  #lost = false;
  #stopping = false;

  private constructor(options: FeedThreadOptions) {
    this.#options = options;
    const workerData: FeedThreadData = { address: options.address };
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData });
    this.#worker.on("message", (message: FromFeed) => this.#receive(message));
    this.#worker.on("error", (error) => this.#failed(messageOf(error)));
    this.#worker.on("exit", () => this.#failed("its thread ended"));
    this.#cancel = options.timers.every(handOverMs, () => this.#handOver());
  }

  /** Resolves once the feed's port is open. */
  static async start(options: FeedThreadOptions): Promise<{ thread: FeedThread; address: ListenAddress }> {
    const thread = new FeedThread(options);
    const address = await new Promise<ListenAddress>((resolve, reject) => {
      thread.#worker.on("message", (message: FromFeed) => {
        if (message.kind === "listening") resolve(message.address);
        if (message.kind === "failed") reject(new FatalError("config", message.detail));
      });
    });
    return { thread, address };
  }

  /** Whether {@link applied} is of any use. */
  get isListening(): boolean {
    return this.#begun && !this.#stopping;
  }

  /** What follows record `seq` does not continue what was told: the feed begins, or the increments changed. */
  restart(seq: number, rules: FeedRules | null, why: string): void {
    this.#handOver();
    this.#begun = true;
    this.#rules = rules;
    this.#applied = seq;
    this.#handedOver = seq;
    this.#post({ kind: "restart", seq, rules: plain(rules), why });
  }

  /** Record `seq` was applied under `rules`; `event` is what it did to the market. */
  applied(seq: number, event: MarketEvent | null, rules: FeedRules | null): void {
    if (!this.isListening) return;
    if (seq !== this.#applied + 1) {
      this.restart(seq, rules, "this replica has taken over a snapshot");
      return;
    }
    if (rules !== this.#rules && !sameFeedRules(rules, this.#rules)) {
      this.restart(seq, rules, "a new epoch trades by other rules");
      return;
    }
    this.#applied = seq;
    if (event !== null && !this.#lost) this.#batch.add(event);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cancel();
    await this.#worker.terminate();
  }

  #handOver(): void {
    if (this.#lost) {
      this.#recover();
      return;
    }
    if (this.#applied === this.#handedOver) return;
    const batch = this.#batch.take();
    this.#handedOver = this.#applied;
    this.#underWay.push(batch.length);
    this.#numbersUnderWay += batch.length;
    this.#worker.postMessage({ kind: "batch", batch, applied: this.#applied } satisfies ToFeed, [batch.buffer]);
    if (this.#numbersUnderWay > mostNumbersUnderWay) this.#lost = true;
  }

  /** Once the other thread has worked off what it had. */
  #recover(): void {
    if (this.#underWay.length > 0) return;
    this.#lost = false;
    this.#options.log.warn("the feed could not keep up; its readers have to begin again", { seq: this.#applied });
    this.#handedOver = this.#applied;
    this.#post({ kind: "restart", seq: this.#applied, rules: plain(this.#rules), why: "the feed could not keep up" });
  }

  #receive(message: FromFeed): void {
    switch (message.kind) {
      case "taken":
        this.#numbersUnderWay -= this.#underWay.shift() ?? 0;
        return;
      case "book":
        // What was applied before the book was looked at must be there when it comes.
        this.#handOver();
        this.#post({ kind: "book", snapshot: this.#options.book() });
        return;
      case "listening":
      case "failed":
    }
  }

  #post(message: ToFeed): void {
    if (!this.#stopping) this.#worker.postMessage(message);
  }

  #failed(reason: string): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#cancel();
    this.#options.log.error("the market data feed has failed; trading goes on without it", { reason });
  }
}

const sameFeedRules = (a: FeedRules | null, b: FeedRules | null): boolean =>
  a?.tradingPair === b?.tradingPair && a?.tickSize === b?.tickSize && a?.lotSize === b?.lotSize;

/** Only what the other thread needs. */
const plain = (rules: FeedRules | null): FeedRules | null =>
  rules === null ? null : { tradingPair: rules.tradingPair, tickSize: rules.tickSize, lotSize: rules.lotSize };
