import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import { type TradingRules, tradingRules } from "../exchange/tradingRules.ts";
import type { ListenAddress } from "../process/config.ts";
import { listen } from "../process/listen.ts";
import { snapshotLine, updateLine } from "./feedLines.ts";
import { FeedLog } from "./feedLog.ts";
import { FeedReader } from "./feedReader.ts";
import { readMarketBatch } from "./marketBatch.ts";
import type { BookSnapshot, ToFeed } from "./messages.ts";

export interface FeedServerOptions {
  /** Asks for the book; it comes with a later message. */
  readonly askForBook: () => void;
  /** Size of the log in characters. */
  readonly keptChars?: number;
}

const heartbeatMs = 1_000;
const defaultKeptChars = 64 * 1024 * 1024;
const mostReaders = 1_000;

/** GET /v1/feed?from=N or from=snapshot: applied records as lines of JSON, on every replica. */
export class FeedServer {
  readonly #options: FeedServerOptions;
  readonly #server: Server;
  readonly #log: FeedLog;
  readonly #readers = new Set<FeedReader>();
  /** Those that wait for the book. */
  #waiting: ServerResponse[] = [];
  #rules: TradingRules | null = null;
  #applied = 0;

  constructor(options: FeedServerOptions) {
    this.#options = options;
    this.#log = new FeedLog(options.keptChars ?? defaultKeptChars);
    this.#server = createServer((request, response) => this.#serve(request, response));
  }

  async listen(address: ListenAddress): Promise<ListenAddress> {
    const bound = await listen(this.#server, address, "TE_FEED_ADDR");
    setInterval(() => this.#heartbeat(), heartbeatMs).unref();
    return bound;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Takes in what the engine's thread says. */
  receive(message: ToFeed): void {
    switch (message.kind) {
      case "restart":
        this.#restart(message);
        return;
      case "batch":
        this.#add(message.batch);
        this.#applied = message.applied;
        for (const reader of this.#readers) reader.pump();
        return;
      case "book":
        this.#sendBook(message.snapshot);
    }
  }

  #restart({ seq, rules, why }: Extract<ToFeed, { kind: "restart" }>): void {
    for (const reader of this.#readers) reader.end("RESTARTED", `${why}; begin again with from=snapshot`);
    this.#readers.clear();
    this.#rules = rules === null ? null : tradingRules(rules.tradingPair, rules.tickSize, rules.lotSize);
    this.#log.restart(seq);
    this.#applied = seq;
    if (this.#waiting.length > 0) this.#options.askForBook();
  }

  #add(batch: Float64Array): void {
    const rules = this.#rules;
    if (rules === null) return;
    for (const event of readMarketBatch(batch)) {
      this.#log.add(event.seq, updateLine(event, this.#log.last, rules));
    }
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://feed");
    if (pathname !== "/v1/feed" || request.method !== "GET") {
      refuse(response, 404, "NO_SUCH_ROUTE", "there is only GET /v1/feed?from=");
      return;
    }
    if (this.#readers.size + this.#waiting.length >= mostReaders) {
      refuse(response, 503, "TOO_MANY_READERS", `${mostReaders} readers are connected`);
      return;
    }
    const from = searchParams.get("from") ?? "snapshot";
    if (from === "snapshot") {
      this.#waiting.push(response);
      response.on("close", () => (this.#waiting = this.#waiting.filter((waiting) => waiting !== response)));
      if (this.#waiting.length === 1 && this.#rules !== null) this.#options.askForBook();
      return;
    }
    if (!/^\d{1,16}$/.test(from) || Number(from) === 0) {
      refuse(response, 400, "BAD_REQUEST", 'from must be "snapshot" or the number of a record');
      return;
    }
    const { firstFrom } = this.#log;
    if (Number(from) < firstFrom) {
      const detail = `records before ${firstFrom} are not kept; begin again with from=snapshot`;
      refuse(response, 410, "GONE", detail, { firstFrom });
      return;
    }
    this.#begin(response, Number(from));
  }

  #sendBook(snapshot: BookSnapshot): void {
    const rules = this.#rules;
    if (rules === null) return;
    const line = snapshotLine(snapshot, rules);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const response of waiting) {
      this.#head(response);
      response.write(line);
      this.#begin(response, snapshot.seq + 1);
    }
  }

  #begin(response: ServerResponse, from: number): void {
    if (!response.headersSent) this.#head(response);
    const reader = new FeedReader(response, this.#log, from);
    this.#readers.add(reader);
    response.on("close", () => this.#readers.delete(reader));
    response.on("error", () => response.destroy());
    reader.pump();
  }

  #head(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    response.flushHeaders();
  }

  #heartbeat(): void {
    for (const reader of this.#readers) reader.heartbeat(this.#applied);
  }
}

const refuse = (response: ServerResponse, status: number, code: string, detail: string, more: object = {}): void => {
  response.writeHead(status, { "content-type": "application/problem+json" });
  const title = code.toLowerCase().replaceAll("_", " ");
  response.end(JSON.stringify({ type: "about:blank", title, status, code, detail, ...more }));
};
