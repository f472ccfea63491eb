import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { eventually } from "../engine/testing/eventually.ts";
import { OrderClient, type OrderClientOptions, type OrderRequest } from "./index.ts";
import { type OnRequest, ScriptedReplica } from "./testing/scriptedReplica.ts";

const bid = (clientId: string): OrderRequest => ({ clientId, side: "buy", type: "limit", price: "1", quantity: "2" });

const clientOf = (
  test: TestContext,
  replicas: readonly ScriptedReplica[],
  more: Partial<OrderClientOptions> = {},
): OrderClient => {
  const client = new OrderClient({ replicas: replicas.map(({ address }) => address), probeMs: 5, ...more });
  test.after(() => client.close(0));
  return client;
};

/** Gives every order the next place of `epoch`. */
const accepting = (epoch: number, seq = 1): ScriptedReplica["behaviour"] => {
  let last = seq;
  const onRequest: OnRequest = (request, correlation, stream) => {
    if (request.kind !== "order") return;
    last += 1;
    stream.placed(correlation, epoch, last);
  };
  return { kind: "primary", welcome: { epoch }, onRequest };
};

const deaf = (epoch: number): ScriptedReplica["behaviour"] => ({
  kind: "primary",
  welcome: { epoch },
  onRequest: () => undefined,
});

const answeringProblem = (
  code: "UNKNOWN" | "CANNOT_COMMIT" | "NOT_FOUND",
  times: number,
): ScriptedReplica["behaviour"] => {
  let left = times;
  const onRequest: OnRequest = (request, correlation, stream) => {
    if (request.kind === "heartbeat" || request.kind === "goodbye") return;
    left -= 1;
    if (left >= 0) stream.send((writer) => writer.problem(correlation, { code, detail: "as the test wants" }));
    else stream.placed(correlation, 1, 2);
  };
  return { kind: "primary", onRequest };
};

const startTwo = async (test: TestContext): Promise<[ScriptedReplica, ScriptedReplica]> => [
  await ScriptedReplica.start(test),
  await ScriptedReplica.start(test),
];

describe("the order client", () => {
  it("finds the primary among the replicas", async (test) => {
    const [first, second] = await startTwo(test);
    second.behaviour = accepting(1);
    const client = clientOf(test, [first, second]);
    const result = await client.place(bid("one"));
    assert.deepEqual(result, {
      kind: "placed",
      epoch: 1,
      seq: 2,
      orderId: "1-2",
      status: "resting",
      reason: null,
      filledQuantity: "0.00000",
      trades: [],
      duplicate: false,
      now: null,
    });
    assert.equal(client.statistics().primary, second.address);
  });

  it("follows the hint to a replica that it was not told of", async (test) => {
    const [known, hidden] = await startTwo(test);
    hidden.behaviour = accepting(1);
    known.behaviour = { kind: "standby", leader: hidden.address };
    assert.equal((await clientOf(test, [known]).place(bid("one"))).kind, "placed");
  });

  it("sends what was not answered again, under the same client id and in the same order", async (test) => {
    const [first, second] = await startTwo(test);
    first.behaviour = deaf(1);
    const client = clientOf(test, [first, second]);
    const results = ["one", "two", "three"].map((id) => client.place(bid(id)));
    await eventually("all sent", () => first.streams.length === 1 && first.stream.requests.length === 3);
    second.behaviour = accepting(2, 10);
    first.stop();
    const placed = await Promise.all(results);
    assert.deepEqual(
      placed.map((result) => result.kind === "placed" && result.seq),
      [11, 12, 13],
    );
    const ids = second.stream.requests.flatMap((request) => (request.kind === "order" ? [request.clientId] : []));
    assert.deepEqual(ids, ["one", "two", "three"]);
    assert.equal(client.statistics().resent, 3);
  });

  it("leaves a primary that says nothing", async (test) => {
    const [first, second] = await startTwo(test);
    first.behaviour = deaf(1);
    const client = clientOf(test, [first, second], { silenceMs: 100 });
    const result = client.place(bid("one"));
    await eventually("sent", () => first.streams.length > 0 && first.stream.requests.length > 0);
    first.behaviour = { kind: "standby", leader: null };
    second.behaviour = accepting(2);
    assert.equal((await result).kind, "placed");
  });

  it("goes to a newer epoch while an old primary cannot commit, and never back", async (test) => {
    const [old, next] = await startTwo(test);
    old.behaviour = answeringProblem("CANNOT_COMMIT", 1_000_000);
    const client = clientOf(test, [old, next]);
    const result = client.place(bid("one"));
    await eventually("refused at first", () => old.streams.length > 0 && old.stream.requests.length > 1);
    next.behaviour = accepting(2);
    const placed = await result;
    assert.equal(placed.kind === "placed" && placed.epoch, 2);
    next.stop();
    assert.notEqual((await client.place(bid("two"), 300)).kind, "placed");
    assert.equal(client.statistics().epoch, 2);
  });

  it("counts no acknowledgement of an epoch that is over", async (test) => {
    const [old, next] = await startTwo(test);
    old.behaviour = deaf(1);
    const client = clientOf(test, [old, next]);
    const result = client.place(bid("one"));
    await eventually("sent", () => old.streams.length > 0 && old.stream.requests.length > 0);
    const { stream } = old;
    next.behaviour = deaf(2);
    stream.send((writer) => writer.goodbye({ code: "DRAINING", detail: "", leader: null }));
    await eventually("sent again", () => next.streams.length > 0 && next.stream.requests.length > 0);
    stream.placed(1, 1, 99);
    await sleep(50);
    next.stream.placed(1, 2, 7);
    const placed = await result;
    assert.equal(placed.kind === "placed" && placed.seq, 7);
  });

  it("gives one result for an order that is answered twice", async (test) => {
    const replica = await ScriptedReplica.start(test);
    replica.behaviour = {
      kind: "primary",
      onRequest: (request, correlation, stream) => {
        if (request.kind !== "order") return;
        stream.placed(correlation, 1, 2);
        stream.placed(correlation, 1, 3);
      },
    };
    const client = clientOf(test, [replica]);
    const first = await client.place(bid("one"));
    const second = await client.place(bid("two"));
    assert.deepEqual([first.kind === "placed" && first.seq, second.kind === "placed" && second.seq], [2, 2]);
    assert.equal(client.statistics().acknowledged, 2);
  });

  it("asks again after UNKNOWN", async (test) => {
    const replica = await ScriptedReplica.start(test);
    replica.behaviour = answeringProblem("UNKNOWN", 2);
    const client = clientOf(test, [replica]);
    assert.equal((await client.place(bid("one"))).kind, "placed");
    assert.equal(client.statistics().resent, 2);
  });

  it("passes a refusal on", async (test) => {
    const replica = await ScriptedReplica.start(test);
    replica.behaviour = answeringProblem("NOT_FOUND", 1);
    const result = await clientOf(test, [replica]).find({ clientId: "nothing" });
    assert.deepEqual(result, { kind: "refused", code: "NOT_FOUND", detail: "as the test wants" });
  });

  const invalid: readonly [string, Partial<OrderRequest>, string][] = [
    ["a price between ticks", { price: "1.001" }, "BAD_PRICE"],
    ["a quantity of nothing", { quantity: "0" }, "BAD_QUANTITY"],
    ["a client id with a space", { clientId: "a b" }, "BAD_CLIENT_ID"],
  ];
  for (const [what, change, code] of invalid) {
    it(`sends no order with ${what}`, async (test) => {
      const replica = await ScriptedReplica.start(test);
      replica.behaviour = accepting(1);
      const result = await clientOf(test, [replica]).place({ ...bid("one"), ...change });
      assert.equal(result.kind === "refused" && result.code, code);
      assert.equal(replica.stream.requests.length, 0);
    });
  }

  it("asks for an order that it can no longer express, instead of guessing", async (test) => {
    const [first, second] = await startTwo(test);
    first.behaviour = deaf(1);
    const client = clientOf(test, [first, second]);
    const result = client.place({ ...bid("one"), price: "1.01" });
    await eventually("sent", () => first.streams.length > 0 && first.stream.requests.length > 0);
    const onRequest: OnRequest = (request, correlation, stream) => {
      if (request.kind === "find") stream.placed(correlation, 1, 5, true);
    };
    second.behaviour = { kind: "primary", welcome: { epoch: 2, tickSize: "0.1" }, onRequest };
    first.stop();
    const placed = await result;
    assert.equal(placed.kind === "placed" && placed.seq, 5);
  });
});

describe("what the client asks for", () => {
  it("carries all terms, and what the client had seen when it asked first", async (test) => {
    const replica = await ScriptedReplica.start(test);
    replica.behaviour = {
      kind: "primary",
      welcome: { committed: 41 },
      onRequest: (_, correlation, stream) => stream.placed(correlation, 1, 42),
    };
    const client = clientOf(test, [replica]);
    await eventually("connected", () => client.statistics().primary !== null);
    const terms = { type: "stopLimit", stopPrice: "2", timeInForce: "fok", selfTrade: "cancelBoth" } as const;
    await client.place({ ...bid("one"), ...terms, account: "a" });
    assert.deepEqual(replica.stream.requests[0], {
      kind: "order",
      account: "a",
      clientId: "one",
      side: "buy",
      type: "stopLimit",
      price: 100,
      stopPrice: 200,
      quantity: 200_000,
      timeInForce: "fok",
      postOnly: false,
      selfTrade: "cancelBoth",
      after: 41,
    });
  });

  it("names what a replacement changes, and leaves the rest", async (test) => {
    const replica = await ScriptedReplica.start(test);
    replica.behaviour = {
      kind: "primary",
      onRequest: (_, correlation, stream) => stream.placed(correlation, 1, 2),
    };
    const client = clientOf(test, [replica]);
    await client.replace({ clientId: "two", target: "one", price: "1.5" });
    const terms = { price: 150, stopPrice: 0, quantity: 0, after: 1 };
    assert.deepEqual(replica.stream.requests[0], {
      kind: "replace",
      account: "",
      clientId: "two",
      target: "one",
      ...terms,
      after: (replica.stream.requests[0] as { after: number }).after,
    });
  });

  it("is in doubt when the engine may have forgotten an earlier attempt", async (test) => {
    const [first, second] = await startTwo(test);
    first.behaviour = deaf(1);
    const client = clientOf(test, [first, second]);
    const result = client.place(bid("one"));
    await eventually("sent", () => first.streams.length > 0 && first.stream.requests.length > 0);
    const expired = { status: "rejected", reason: "CLIENT_ID_EXPIRED", duplicate: false, epoch: 2, seq: 9 } as const;
    const onRequest: OnRequest = (_, correlation, stream) =>
      stream.send((writer) => writer.placed(correlation, { ...expired, filled: 0, trades: [], increments: null }));
    second.behaviour = { kind: "primary", welcome: { epoch: 2 }, onRequest };
    first.stop();
    assert.equal((await result).kind, "unresolved");
  });
});

describe("a deadline", () => {
  it("ends a request that was sent as unresolved", async (test) => {
    const replica = await ScriptedReplica.start(test);
    replica.behaviour = deaf(1);
    const client = clientOf(test, [replica], { silenceMs: 60_000 });
    await eventually("connected", () => client.statistics().primary !== null);
    assert.equal((await client.place(bid("one"), 100)).kind, "unresolved");
  });

  it("ends a request that no replica took as certainly not done", async (test) => {
    const replica = await ScriptedReplica.start(test);
    const result = await clientOf(test, [replica]).place(bid("one"), 100);
    assert.equal(result.kind === "refused" && result.code, "NOT_SENT");
  });

  it("ends a request that was refused each time as refused", async (test) => {
    const replica = await ScriptedReplica.start(test);
    replica.behaviour = answeringProblem("CANNOT_COMMIT", 1_000_000);
    const result = await clientOf(test, [replica]).place(bid("one"), 110);
    assert.ok(result.kind === "unresolved" || (result.kind === "refused" && result.code === "CANNOT_COMMIT"));
  });
});

describe("closing a client", () => {
  it("waits for what is under way, and takes nothing new", async (test) => {
    const replica = await ScriptedReplica.start(test);
    const onRequest: OnRequest = (request, correlation, stream) => {
      if (request.kind === "order") setTimeout(() => stream.placed(correlation, 1, 2), 100);
    };
    replica.behaviour = { kind: "primary", onRequest };
    const client = clientOf(test, [replica]);
    const result = client.place(bid("one"));
    await eventually("sent", () => replica.streams.length > 0 && replica.stream.requests.length > 0);
    const closed = client.close(5_000);
    const refused = await client.place(bid("two"));
    assert.equal(refused.kind === "refused" && refused.code, "NOT_SENT");
    assert.equal((await result).kind, "placed");
    await closed;
  });

  it("ends what is not answered by then", async (test) => {
    const replica = await ScriptedReplica.start(test);
    replica.behaviour = deaf(1);
    const client = clientOf(test, [replica]);
    const result = client.place(bid("one"));
    await eventually("sent", () => replica.streams.length > 0 && replica.stream.requests.length > 0);
    await client.close(20);
    assert.equal((await result).kind, "unresolved");
  });
});

describe("too many requests at a time", () => {
  it("are refused, so that a client's memory is bounded", async (test) => {
    const replica = await ScriptedReplica.start(test);
    const client = clientOf(test, [replica], { maxWaiting: 2 });
    void client.place(bid("one"));
    void client.place(bid("two"));
    const third = await client.place(bid("three"));
    assert.equal(third.kind === "refused" && third.code, "TOO_MANY");
  });
});
