import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";

import type { EngineClient } from "../testing/engineClient.ts";
import { written } from "../testing/engineClient.ts";
import { eventually } from "../testing/eventually.ts";
import { startAlone, startTrio } from "../testing/testEngine.ts";
import { FeedServer } from "./feedServer.ts";
import { MarketBatchWriter } from "./marketBatch.ts";

interface Line {
  readonly type: string;
  readonly seq: number;
  readonly previous: number;
  readonly trades: readonly { readonly tradeId: string }[];
  readonly bids: readonly (readonly [string, string, number])[];
  readonly asks: readonly (readonly [string, string, number])[];
  readonly code: string;
}

/** What one reader of a feed has got. */
class Reader {
  readonly lines: Line[] = [];
  status = 0;
  ended = false;
  readonly #abort = new AbortController();

  constructor(test: TestContext, address: string, from: string | number) {
    test.after(() => this.#abort.abort());
    void this.#read(`http://${address}/v1/feed?from=${from}`).catch(() => (this.ended = true));
  }

  updates(): Line[] {
    return this.lines.filter(({ type }) => type === "update");
  }

  async #read(url: string): Promise<void> {
    const response = await fetch(url, { signal: this.#abort.signal });
    this.status = response.status;
    let rest = "";
    for await (const chunk of response.body ?? []) {
      const parts = (rest + Buffer.from(chunk).toString("utf8")).split("\n");
      rest = parts.pop() ?? "";
      this.lines.push(...parts.map((part) => JSON.parse(part) as Line));
    }
    if (rest !== "") this.lines.push(JSON.parse(rest) as Line);
    this.ended = true;
  }
}

const feedOf = (engine: EngineClient): string => written(engine.addresses.feed);

const ask = (engine: EngineClient, clientId: string, price: string, quantity = "1") =>
  engine.order({ clientId, type: "limit", side: "sell", price, quantity });

describe("the market data feed", () => {
  it("begins with the book, and goes on without a gap", async (test) => {
    const engine = await startAlone(test);
    await engine.bid("one");
    const reader = new Reader(test, feedOf(engine), "snapshot");
    await eventually("the book", () => reader.lines.length > 0);
    await ask(engine, "two", "100.00", "0.4");
    await engine.cancel("one");
    await eventually("what followed", () => reader.updates().length >= 2);
    const [snapshot, trade, cancel] = reader.lines.filter(({ type }) => type !== "heartbeat");
    assert.deepEqual([snapshot?.seq, snapshot?.bids, snapshot?.asks], [2, [["100.00", "1.00000", 1]], []]);
    assert.deepEqual(trade, {
      type: "update",
      seq: 3,
      previous: 2,
      epoch: 1,
      trades: [{ tradeId: "3-1", price: "100.00", quantity: "0.40000", side: "sell" }],
      bids: [["100.00", "0.60000", 1]],
      asks: [],
      bid: "100.00",
      ask: null,
      spread: null,
    });
    assert.deepEqual([cancel?.seq, cancel?.previous, cancel?.bids], [4, 3, [["100.00", "0.00000", 0]]]);
  });

  it("is the same on every replica, and is taken up where a reader left it", async (test) => {
    const [primary, second, third] = await startTrio(test);
    for (let count = 0; count < 10; count += 1) await primary.bid(`order-${count}`);
    const readers = [primary, second, third].map((engine) => new Reader(test, feedOf(engine), 5));
    await eventually("all of it", () => readers.every((reader) => reader.updates().length === 7));
    const [first, ...others] = readers.map((reader) => reader.updates());
    for (const other of others) assert.deepEqual(other, first);
    assert.deepEqual(
      first?.map(({ seq, previous }) => [previous, seq]),
      [4, 5, 6, 7, 8, 9, 10].map((seq) => [seq, seq + 1]),
    );
  });
});

const rules = { tradingPair: "BTC/USDT", tickSize: "0.01", lotSize: "1" };

const batchOf = (...seqs: readonly number[]): Float64Array => {
  const writer = new MarketBatchWriter();
  for (const seq of seqs) {
    const levels = [{ side: "buy", price: seq, quantity: 1, orders: 1 }] as const;
    writer.add({ seq, epoch: 1, bestBid: seq, bestAsk: 0, trades: [], levels });
  }
  return writer.take();
};

/** The thread's server by itself, begun after record 1. */
const startServer = async (test: TestContext, keptChars?: number) => {
  const asked = { count: 0 };
  const askForBook = (): unknown => (asked.count += 1);
  const server = new FeedServer({ askForBook, ...(keptChars === undefined ? {} : { keptChars }) });
  const address = written(await server.listen({ host: "127.0.0.1", port: 0 }));
  test.after(() => server.close());
  server.receive({ kind: "restart", seq: 1, rules, why: "the feed begins" });
  const add = (...seqs: readonly number[]): void =>
    server.receive({ kind: "batch", batch: batchOf(...seqs), applied: seqs.at(-1) ?? 0 });
  return { server, address, add, asked };
};

describe("a reader", () => {
  it("is told where it can begin when it comes too late", async (test) => {
    const { address, add } = await startServer(test, 400);
    add(2, 3, 4, 5, 6, 7);
    const response = await fetch(`http://${address}/v1/feed?from=2`);
    const body = (await response.json()) as { code: string; firstFrom: number };
    assert.deepEqual([response.status, body.code], [410, "GONE"]);
    const again = new Reader(test, address, body.firstFrom);
    await eventually("the rest", () => again.updates().at(-1)?.seq === 7);
    assert.equal(again.updates()[0]?.seq, body.firstFrom);
  });

  it("may be ahead of a replica, and gets what it waits for when it is there", async (test) => {
    const { address, add } = await startServer(test);
    const reader = new Reader(test, address, 4);
    add(2, 3);
    await eventually("connected", () => reader.status === 200);
    add(4);
    await eventually("its line", () => reader.updates().length === 1);
    assert.equal(reader.updates()[0]?.seq, 4);
  });

  it("shares one book with all that ask at the same time", async (test) => {
    const { server, address, asked } = await startServer(test);
    const readers = Array.from({ length: 5 }, () => new Reader(test, address, "snapshot"));
    await eventually("asked for", () => asked.count > 0);
    await fetch(`http://${address}/v1/other`);
    server.receive({ kind: "book", snapshot: { seq: 1, epoch: 1, levels: [] } });
    await eventually("answered", () => {
      if (readers.some((reader) => reader.lines.length === 0)) {
        server.receive({ kind: "book", snapshot: { seq: 1, epoch: 1, levels: [] } });
      }
      return readers.every((reader) => reader.lines[0]?.type === "snapshot");
    });
  });

  it("is sent away when the feed begins anew", async (test) => {
    const { server, address } = await startServer(test);
    const reader = new Reader(test, address, 2);
    await eventually("connected", () => reader.status === 200);
    server.receive({ kind: "restart", seq: 9, rules, why: "a test" });
    await eventually("ended", () => reader.ended);
    assert.equal(reader.lines.at(-1)?.code, "RESTARTED");
  });

  const refused: readonly [string, number][] = [
    ["/v1/feed?from=0", 400],
    ["/v1/feed?from=now", 400],
    ["/v1/other", 404],
  ];
  for (const [path, status] of refused) {
    it(`is answered ${status} for ${path}`, async (test) => {
      const { address } = await startServer(test);
      assert.equal((await fetch(`http://${address}${path}`)).status, status);
    });
  }
});
