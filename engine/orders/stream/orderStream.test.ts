import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { PlaceOrder } from "../../journal/record.ts";
import type { ListenAddress } from "../../process/config.ts";
import { readBody } from "../../process/httpBody.ts";
import { eventually } from "../../testing/eventually.ts";
import { limitOrder } from "../../testing/records.ts";
import { StreamClient } from "../../testing/streamClient.ts";
import { StreamHost } from "../../testing/streamHost.ts";
import { startAlone } from "../../testing/testEngine.ts";
import type { Answer } from "./frameReader.ts";
import { protocolName, streamPath } from "./protocol.ts";

const codeOf = (answer: Answer): string => (answer.type === "problem" ? answer.frame.code : answer.type);

const order = (terms: Partial<PlaceOrder>): PlaceOrder => limitOrder("one", { price: 1, quantity: 1, ...terms });
const named = (clientId: string) => ({ account: "", clientId });

describe("an order stream", () => {
  it("begins with what holds for it", async (test) => {
    const stream = await (await StreamHost.leading(test)).open();
    const { instance, epoch, tradingPair, tickSize, lotSize, committed } = await stream.welcome();
    assert.deepEqual(
      { instance, epoch, tradingPair, tickSize, lotSize, committed },
      { instance: "te-0", epoch: 1, tradingPair: "BTC/USDT", tickSize: "0.01", lotSize: "0.00001", committed: 1 },
    );
  });

  it("answers many orders, each under its own number", async (test) => {
    const stream = await (await StreamHost.leading(test)).open();
    stream.send((writer) => {
      for (let number = 1; number <= 1_000; number += 1) writer.place(number, order({ clientId: `order-${number}` }));
    });
    await stream.answerTo(1_000);
    const seqs = stream.answers.flatMap((answer) =>
      answer.type === "placed" ? [[answer.correlation, answer.frame.seq]] : [],
    );
    assert.deepEqual(
      seqs,
      Array.from({ length: 1_000 }, (_, index) => [index + 1, index + 2]),
    );
  });

  it("tells trades, duplicates and cancellations", async (test) => {
    const stream = await (await StreamHost.leading(test)).open();
    stream.bid(1, "bid");
    stream.send((writer) => {
      writer.place(2, order({ clientId: "ask", side: "sell", type: "market", price: 0, quantity: 2 }));
      writer.cancel(3, named("bid"));
    });
    const trade = await stream.answerTo(2);
    assert.deepEqual(trade.type === "placed" && [trade.frame.status, trade.frame.trades], ["filled", [10_000, 2]]);
    const cancelled = await stream.answerTo(3);
    assert.deepEqual(cancelled.type === "cancelled" && [cancelled.frame.orderSeq, cancelled.frame.filled], [2, 2]);
    stream.bid(4, "bid");
    const again = await stream.answerTo(4);
    assert.deepEqual(again.type === "placed" && [again.frame.seq, again.frame.duplicate], [2, true]);
  });

  it("takes every type of order, replacements and questions", async (test) => {
    const stream = await (await StreamHost.leading(test)).open();
    stream.send((writer) => {
      writer.place(1, order({ account: "a", price: 5 }));
      writer.replace(2, {
        ...named("two"),
        account: "a",
        target: "one",
        price: 6,
        stopPrice: 0,
        quantity: 0,
        after: 0,
      });
      writer.place(3, order({ clientId: "post", side: "sell", price: 6, postOnly: true }));
      writer.place(4, order({ clientId: "stop", type: "stop", price: 0, stopPrice: 9 }));
    });
    const refusedFor = await stream.answerTo(3);
    assert.deepEqual(refusedFor.type === "placed" && [refusedFor.frame.status, refusedFor.frame.reason], [
      "rejected",
      "WOULD_CROSS",
    ]);
    const stop = await stream.answerTo(4);
    assert.equal(stop.type === "placed" && stop.frame.status, "untriggered");
    stream.send((writer) => writer.find(5, { account: "a", clientId: "one" }));
    const found = await stream.answerTo(5);
    assert.deepEqual(found.type === "found" && [found.frame.status, found.frame.now], [
      "resting",
      { status: "cancelled", reason: "REPLACED", filled: 0, remaining: 0 },
    ]);
  });

  const refused: readonly [string, (stream: StreamClient) => void, string][] = [
    ["an order without a quantity", (stream) => stream.send((w) => w.place(9, order({ quantity: 0 }))), "BAD_QUANTITY"],
    ["a limit order without a price", (stream) => stream.send((w) => w.place(9, order({ price: 0 }))), "BAD_PRICE"],
    ["a market order with a price", (stream) => stream.send((w) => w.place(9, order({ type: "market" }))), "BAD_PRICE"],
    ["a bad client id", (stream) => stream.send((w) => w.place(9, order({ clientId: "a b" }))), "BAD_CLIENT_ID"],
    ["an empty client id", (stream) => stream.send((w) => w.cancel(9, named(""))), "BAD_CLIENT_ID"],
    ["the cancellation of nothing", (stream) => stream.send((w) => w.cancel(9, named("nothing"))), "NOT_FOUND"],
    [
      "another order under a used client id",
      (stream) => {
        stream.bid(8, "x");
        stream.send((w) => w.place(9, order({ clientId: "x", price: 7 })));
      },
      "CLIENT_ID_REUSED",
    ],
  ];
  for (const [what, send, code] of refused) {
    it(`answers ${what}: ${code}, and goes on`, async (test) => {
      const stream = await (await StreamHost.leading(test)).open();
      send(stream);
      assert.equal(codeOf(await stream.answerTo(9)), code);
      stream.bid(10, "good");
      assert.equal(codeOf(await stream.answerTo(10)), "placed");
    });
  }

  it("is ended at bytes that are no frames, with the reason, after what came before them", async (test) => {
    const stream = await (await StreamHost.leading(test)).open();
    stream.bid(1, "before");
    stream.socket.write("GET / HTTP/1.1\r\n\r\n");
    assert.equal((await stream.goodbye()).code, "MALFORMED");
    assert.equal(codeOf(await stream.answerTo(1)), "placed");
    await eventually("closed", () => stream.closed);
  });

  it("answers what was sent before the client left, then says goodbye", async (test) => {
    const stream = await (await StreamHost.leading(test)).open();
    stream.bid(1, "last");
    stream.send((writer) => writer.leave());
    assert.equal(codeOf(await stream.answerTo(1)), "placed");
    assert.equal((await stream.goodbye()).code, "BYE");
    await eventually("closed", () => stream.closed);
  });

  it("is opened on the order port of an engine, and knows the orders of HTTP", async (test) => {
    const engine = await startAlone(test);
    const stream = await StreamClient.open(engine.addresses.orders);
    test.after(() => stream.socket.destroy());
    const { body } = await engine.bid("one");
    stream.send((writer) => writer.find(1, named("one")));
    const found = await stream.answerTo(1);
    assert.equal(found.type === "found" && found.frame.seq, body["seq"]);
    const told = (answer: Answer): boolean => answer.type === "heartbeat" && answer.committed === 2;
    await eventually("a heartbeat", () => stream.answers.some(told));
  });
});

describe("a stream's limits", () => {
  it("hold back what is beyond the window, and lose none of it", async (test) => {
    const stream = await (await StreamHost.leading(test, { window: 3 })).open();
    stream.send((writer) => {
      for (let number = 1; number <= 200; number += 1) writer.find(number, named("nothing-of-this-name"));
    });
    await stream.answerTo(200);
    assert.equal(stream.answers.filter(({ type }) => type === "problem").length, 200);
  });

  it("drop a client that does not take its answers", async (test) => {
    const host = await StreamHost.leading(test, { stuckMs: 200 });
    const stream = await host.open();
    const makers = 2_000;
    stream.send((writer) => {
      for (let number = 1; number <= makers; number += 1) writer.place(number, order({ clientId: `maker-${number}` }));
      writer.place(0, order({ clientId: "sweep", side: "sell", quantity: makers }));
    });
    await stream.answerTo(0);
    stream.socket.pause();
    // 32 KB each: more than the buffers between the two hold.
    stream.send((writer) => {
      for (let number = 0; number < 1_000; number += 1) writer.find(number, named("sweep"));
    });
    await eventually("dropped, though the client never read", () => host.streams.count === 0);
  });

  it("let go of a client that is silent", async (test) => {
    const stream = await (await StreamHost.leading(test, { silenceMs: 100 })).open();
    assert.equal((await stream.goodbye()).code, "SILENT");
    await eventually("closed", () => stream.closed);
  });

  it("keep a client that says it is there", async (test) => {
    const stream = await (await StreamHost.leading(test, { silenceMs: 1_000 })).open();
    for (let count = 0; count < 12; count += 1) {
      stream.send((writer) => writer.heartbeat());
      await sleep(100);
    }
    assert.ok(!stream.answers.some(({ type }) => type === "goodbye"));
  });
});

describe("the end of a primary", () => {
  it("by a demotion answers everything that was sequenced, and says goodbye", async (test) => {
    const host = await StreamHost.leading(test);
    const stream = await host.open();
    for (let number = 1; number <= 100; number += 1) stream.bid(number, `order-${number}`);
    await stream.answerTo(1);
    const { final } = await host.replica.demote(1);
    assert.match((await stream.goodbye()).code, /NOT_PRIMARY|DRAINING/);
    await eventually("closed", () => stream.closed);
    const placed = stream.answers.filter(({ type }) => type === "placed").length;
    assert.equal(final.seq, placed + 1);
  });

  it("by a fence says goodbye, and UNKNOWN of what is not committed", async (test) => {
    const host = await StreamHost.start(test);
    // Alone it needs neither a standby nor a grant.
    await host.replica.promote(1, [], { k: 0 });
    const stream = await host.open();
    await stream.welcome();
    const { standing } = host.replica.replica;
    assert.ok("term" in standing);
    standing.term.changeSyncSet({ version: 2, members: ["te-1"], k: 1 });
    const { term } = standing;
    stream.bid(1, "one");
    const answered = (): boolean => stream.answers.some((answer) => "correlation" in answer);
    await eventually("taken in", () => term.lastSeq === 2 || answered());
    await host.replica.fence(2);
    assert.equal((await stream.goodbye()).code, "NOT_PRIMARY");
    await eventually("closed", () => stream.closed);
    assert.match(codeOf(await stream.answerTo(1)), /UNKNOWN|CANNOT_COMMIT/);
  });

  it("by the end of its process says goodbye, and takes no new stream", async (test) => {
    const host = await StreamHost.leading(test);
    const stream = await host.open();
    await stream.welcome();
    host.streams.windDown();
    assert.equal((await stream.goodbye()).code, "SHUTTING_DOWN");
    assert.equal((await upgrade(host.address, streamPath, protocolName)).status, 503);
  });
});

const upgrade = async (address: ListenAddress, path: string, protocol: string) => {
  const headers = { connection: "Upgrade", upgrade: protocol };
  const asked = httpRequest({ ...address, path, headers });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const { code, leader } = JSON.parse(await readBody(response, 10_000)) as { code: string; leader: unknown };
  return { status: response.statusCode, code, leader };
};

describe("a request to upgrade", () => {
  it("is answered like an order by a replica that does not lead", async (test) => {
    const primary = await StreamHost.leading(test);
    const standby = await StreamHost.start(test);
    assert.equal((await upgrade(standby.address, streamPath, protocolName)).leader, null);
    await standby.replica.follow(1, primary.replica);
    const answer = await upgrade(standby.address, streamPath, protocolName);
    assert.deepEqual(answer, {
      status: 421,
      code: "NOT_PRIMARY",
      leader: { instance: "te-0", orders: "orders:7000" },
    });
  });

  it("waits for its welcome while the epoch is not committed", async (test) => {
    const host = await StreamHost.start(test);
    await host.replica.promote(1, ["te-1"], { k: 1 });
    const stream = await host.open();
    await sleep(50);
    assert.equal(stream.answers.length, 0);
    const { standing } = host.replica.replica;
    assert.ok("term" in standing);
    standing.term.changeSyncSet({ version: 2, members: [], k: 0 });
    assert.equal((await stream.welcome()).epoch, 1);
  });

  it("is refused for another protocol or path", async (test) => {
    const { address } = await StreamHost.leading(test);
    assert.equal((await upgrade(address, streamPath, "websocket")).status, 426);
    assert.equal((await upgrade(address, "/v1/other", protocolName)).status, 404);
  });
});
