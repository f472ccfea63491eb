/** The faults that other informers are known to fall to, one test each. */
import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { collections, type Fault, podNamed, startFakeCluster, until } from "../../tests/fakeApiServer/index.ts";
import { type Change, createInformer, type InformerOptions } from "./informer.ts";
import { type Pod, pods } from "./resource.ts";

const minute = 60_000;

/** A synced informer with an open watch on a fake cluster that holds one Pod, `first`. */
const setUp = async (test: TestContext, options: Partial<InformerOptions<Pod>> = {}) => {
  const cluster = await startFakeCluster(test);
  cluster.server.store.put(collections.pods, podNamed("first"));
  const { client, clock, server } = cluster;
  const informer = createInformer<Pod>({ client, resource: pods, clock, random: () => 0, ...options });
  const changes: string[] = [];
  informer.onChange((change: Change<Pod>) => void changes.push(`${change.type} ${change.object.metadata.name}`));
  const start = async () => {
    informer.start(cluster.signal);
    await until("the first watch", () => server.watches.length === 1);
  };
  const put = (name: string) => server.store.put(collections.pods, podNamed(name));
  const has = (name: string) => () => informer.store.get("trading", name) !== undefined;
  const lists = () => server.requests.filter((request) => !request.watch).length;
  const watches = () => server.requests.filter((request) => request.watch).length;
  const lastWatch = () => server.watches.at(-1) ?? assert.fail("no watch");
  return { ...cluster, informer, changes, start, put, has, lists, watches, lastWatch };
};

describe("informer, when a watch goes wrong", () => {
  it("finds a half-open connection by its silence, and misses nothing that happened meanwhile", async (test) => {
    const { server, clock, start, put, has, lists, lastWatch } = await setUp(test);
    await start();
    lastWatch().goSilent();
    put("second");
    await clock.advance(99_000);
    assert.equal(server.watches.length, 1);
    await clock.advance(1_000);
    await until("second", has("second"));
    assert.equal(server.watches.length, 2);
    assert.equal(lists(), 1);
  });

  it("leaves a quiet watch alone for as long as bookmarks come", async (test) => {
    const { server, clock, start, lastWatch } = await setUp(test);
    await start();
    for (let i = 0; i < 10; i++) {
      await clock.advance(minute);
      lastWatch().bookmark();
    }
    await clock.advance(minute);
    assert.equal(server.requests.length, 2);
    assert.ok(lastWatch().open);
  });

  it("watches on at once, every time, when the server ends a quiet watch in order", async (test) => {
    const { server, clock, start, lists, lastWatch } = await setUp(test);
    await start();
    for (let ended = 1; ended <= 5; ended++) {
      await clock.advance(minute);
      lastWatch().end();
      await until("the next watch, with no time gone by", () => server.watches.length === ended + 1);
    }
    assert.equal(lists(), 1);
  });

  it("watches on from the last bookmark, so that a quiet kind outlives compaction", async (test) => {
    const { server, clock, start, put, has, lists, lastWatch } = await setUp(test);
    await start();
    server.store.put(collections.configMaps, { metadata: { name: "other", namespace: "trading" } });
    lastWatch().bookmark();
    server.store.compact();
    await clock.advance(1_000);
    lastWatch().end();
    await until("the next watch", () => server.watches.length === 2);
    put("second");
    await until("second", has("second"));
    assert.equal(lists(), 1);
  });

  for (const [name, cut] of [
    ["reset", "reset"],
    ["ended", "end"],
  ] as const) {
    it(`misses nothing and resumes at once when a busy watch is ${name}`, async (test) => {
      const { start, put, has, lists, lastWatch } = await setUp(test);
      await start();
      for (let i = 0; i < 20; i++) {
        put(`before-${i}`);
        await until("the change", has(`before-${i}`));
        lastWatch()[cut]();
        put(`after-${i}`);
        await until("the change in the gap", has(`after-${i}`));
      }
      assert.equal(lists(), 1);
    });
  }

  const opening: readonly { readonly name: string; readonly fault: Fault }[] = [
    { name: "500", fault: { do: "status", code: 500, reason: "InternalError" } },
    { name: "503", fault: { do: "status", code: 503 } },
    { name: "504", fault: { do: "status", code: 504, reason: "Timeout" } },
    { name: "429", fault: { do: "status", code: 429, reason: "TooManyRequests" } },
    { name: "a reset", fault: { do: "reset" } },
  ];
  for (const { name, fault } of opening) {
    it(`keeps trying, slower and slower and without a list, when a watch is answered by ${name}`, async (test) => {
      const { server, clock, start, put, has, lists, watches, lastWatch } = await setUp(test);
      await start();
      server.fail({ watch: true, times: 4 }, fault);
      await clock.advance(minute);
      lastWatch().end();
      put("second");
      const waited = await clock.advanceUntil("second", has("second"));
      assert.ok(waited >= 800 + 1_600 + 3_200 + 6_400);
      assert.equal(watches(), 6);
      assert.equal(lists(), 1);
    });
  }

  it("gives up on a watch that is never answered, and opens another", async (test) => {
    const { server, clock, start, put, has, lastWatch } = await setUp(test);
    await start();
    server.fail({ watch: true, times: 1 }, { do: "stall" });
    await clock.advance(minute);
    lastWatch().end();
    put("second");
    await clock.advanceUntil("second", has("second"));
  });

  it("comes back no sooner than a 429 asks for", async (test) => {
    const { server, clock, start, watches, lastWatch } = await setUp(test);
    await start();
    server.fail({ watch: true, times: 1 }, { do: "status", code: 429, retryAfterSeconds: 20 });
    await clock.advance(minute);
    lastWatch().end();
    const waited = await clock.advanceUntil("the next watch", () => watches() === 3);
    assert.ok(waited >= 20_000);
  });

  it("lists anew when watches fail with 500 for a minute: a list may work", async (test) => {
    const { server, clock, start, put, has, lists, lastWatch } = await setUp(test);
    await start();
    server.fail({ watch: true }, { do: "status", code: 500 });
    await clock.advance(minute);
    lastWatch().end();
    put("second");
    await clock.advanceUntil("second", has("second"), 1_000);
    assert.equal(lists(), 2);
  });

  for (const [where, refuse] of [
    ["as the answer", "status"],
    ["inside the stream", "inBand"],
  ] as const) {
    it(`lists anew at once on 410 ${where}, and tells what it missed`, async (test) => {
      const { server, clock, start, put, lists, changes, lastWatch } = await setUp(test);
      await start();
      await clock.advance(minute);
      lastWatch().dropNext(2);
      server.store.remove(collections.pods, "trading", "first");
      put("second");
      server.store.compact();
      if (refuse === "inBand") lastWatch().sendError(410, "Expired");
      else {
        server.fail({ watch: true, times: 1 }, { do: "status", code: 410, reason: "Expired" });
        lastWatch().end();
      }
      await until("the second list", () => lists() === 2);
      await until("both changes", () => changes.length === 3);
      assert.deepEqual(changes, ["added first", "deleted first", "added second"]);
    });
  }

  it("does not hammer the server on an error inside the stream, and lists anew after the backoff", async (test) => {
    const { clock, start, lists, watches, lastWatch } = await setUp(test);
    await start();
    for (const [i, ms] of [800, 1_600, 3_200].entries()) {
      lastWatch().sendError(500, "InternalError");
      const waited = await clock.advanceUntil("the next watch", () => watches() === i + 2);
      assert.ok(waited >= ms);
      assert.equal(lists(), i + 2);
    }
  });

  it("waits on a 429 inside the stream and resumes the same watch", async (test) => {
    const { server, clock, start, put, has, lists, lastWatch } = await setUp(test);
    await start();
    lastWatch().sendError(429, "TooManyRequests");
    put("second");
    await clock.advanceUntil("second", has("second"));
    assert.equal(lists(), 1);
    assert.equal(server.watches.length, 2);
  });

  it("does not spin on watches that are cut within a second without an event", async (test) => {
    const { clock, start, watches, lastWatch } = await setUp(test);
    await start();
    lastWatch().end();
    assert.ok((await clock.advanceUntil("the next watch", () => watches() === 2)) >= 800);
  });

  for (const [name, line] of [
    ["not JSON", "{broken\n"],
    ["not an object", '{"type":"ADDED"}\n'],
  ] as const) {
    it(`loses no event to a line that is ${name}`, async (test) => {
      const { clock, start, put, has, lastWatch } = await setUp(test);
      await start();
      lastWatch().dropNext(1);
      put("second");
      lastWatch().sendRaw(line);
      await clock.advanceUntil("second", has("second"));
    });
  }

  it("tells a deletion and an addition when an object was replaced while nobody watched", async (test) => {
    const { server, start, put, changes, informer, lastWatch } = await setUp(test);
    await start();
    const before = informer.store.get("trading", "first");
    lastWatch().dropNext(2);
    server.store.remove(collections.pods, "trading", "first");
    put("first");
    lastWatch().sendError(410, "Expired");
    await until("both changes", () => changes.length === 3);
    assert.deepEqual(changes, ["added first", "deleted first", "added first"]);
    assert.notEqual(informer.store.get("trading", "first")?.metadata.uid, before?.metadata.uid);
  });

  it("goes on when a handler throws, also for the other handlers", async (test) => {
    const errors: string[] = [];
    const logger = { warn: () => undefined, error: (_: object, message: string) => void errors.push(message) };
    const { informer, start, put, has, changes } = await setUp(test, { logger });
    informer.onChange(() => {
      throw new Error("a fault of the handler");
    });
    await start();
    put("second");
    await until("second", has("second"));
    assert.deepEqual(changes, ["added first", "added second"]);
    assert.equal(errors.length, 2);
  });

  it("tells nothing when a new list shows nothing new", async (test) => {
    const { start, lists, changes, lastWatch, watches } = await setUp(test);
    await start();
    lastWatch().sendError(410, "Expired");
    await until("the second list", () => lists() === 2 && watches() === 2);
    assert.deepEqual(changes, ["added first"]);
  });
});

describe("informer, when a list goes wrong", () => {
  const faults: readonly { readonly name: string; readonly fault: Fault; readonly times?: number }[] = [
    { name: "500", fault: { do: "status", code: 500 } },
    { name: "429", fault: { do: "status", code: 429, retryAfterSeconds: 2 } },
    { name: "403", fault: { do: "status", code: 403, reason: "Forbidden" } },
    // The client repeats a read three times by itself.
    { name: "resets", fault: { do: "reset" }, times: 4 },
    { name: "resets inside the body", fault: { do: "resetInBody" }, times: 4 },
    { name: "a body that is not JSON", fault: { do: "answer", body: "<html>" } },
    { name: "a body that ends too soon", fault: { do: "answer", body: '{"items":[' } },
    { name: "no answer", fault: { do: "stall" } },
    { name: "half an answer", fault: { do: "stallInBody" } },
  ];
  for (const { name, fault, times = 1 } of faults) {
    it(`tries again after ${name}`, async (test) => {
      const { server, clock, signal, informer } = await setUp(test);
      server.fail({ watch: false, times }, fault);
      informer.start(signal);
      const waited = await clock.advanceUntil("the sync", () => informer.hasSynced(), 500);
      assert.ok(waited >= 800);
      assert.equal(informer.store.size, 1);
    });
  }

  it("takes the newest when the version it knows has expired", async (test) => {
    const { server, clock, start, lists, lastWatch } = await setUp(test);
    await start();
    server.fail({ watch: false, times: 1 }, { do: "status", code: 410, reason: "Expired" });
    lastWatch().sendError(410, "Expired");
    await clock.advanceUntil("the third list", () => lists() === 3);
    const [first, second, third] = server.requests.filter((request) => !request.watch).map(({ path }) => path);
    assert.match(first ?? "", /resourceVersion=0/);
    assert.match(second ?? "", /resourceVersion=101&resourceVersionMatch=NotOlderThan/);
    assert.doesNotMatch(third ?? "", /resourceVersion/);
  });

  it("takes the newest when the server has not reached the version it knows", async (test) => {
    const { server, clock, start, lists, lastWatch } = await setUp(test);
    await start();
    const fault = { do: "status", code: 504, reason: "Timeout", causes: ["ResourceVersionTooLarge"] } as const;
    server.fail({ watch: false, times: 1 }, fault);
    lastWatch().sendError(410, "Expired");
    await clock.advanceUntil("the third list", () => lists() === 3);
    const newest = server.requests.findLast((request) => !request.watch);
    assert.doesNotMatch(newest?.path ?? "", /resourceVersion/);
  });
});

describe("informer, when the API server is away for a minute", () => {
  it("asks at the pace of the backoff, restarts nothing and loses nothing", async (test) => {
    let failures = 0;
    const logger = { warn: () => (failures += 1), error: () => assert.fail("an error") };
    const { server, clock, start, put, has, lists, informer } = await setUp(test, { logger });
    await start();
    await clock.advance(minute);
    await server.goDown();
    await clock.advance(100);
    for (let second = 0; second < 60; second++) await clock.advance(1_000);
    // The reset, then tries after 0, 0.8, 1.6, 3.2, 6.4, 12.8 and 25.6 s.
    assert.ok(failures >= 3 && failures <= 8, `${failures} failures`);
    assert.ok(informer.lastError !== undefined);
    put("second");
    const before = server.connections;
    await server.comeUp();
    await clock.advanceUntil("second", has("second"), 1_000);
    assert.equal(lists(), 1);
    assert.equal(server.connections, before + 1);
    assert.equal(informer.lastError, undefined);
  });
});
