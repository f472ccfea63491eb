import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { collections, type Fault, podNamed, startFakeCluster, until } from "../../tests/fakeApiServer/index.ts";
import { createKubeClient } from "./client.ts";
import { ApiError, type ApiErrorKind, isConflict, isFenced } from "./errors.ts";
import { createFence } from "./fence.ts";
import { configMaps, nodes, pods } from "./resource.ts";

const first = { namespace: "trading", name: "first" };

const rejectsAs = (kind: ApiErrorKind) => (error: unknown) => error instanceof ApiError && error.kind === kind;

describe("client: reads", () => {
  it("gets an object with all its fields, known or not", async (test) => {
    const { server, client } = await startFakeCluster(test);
    server.store.put(collections.pods, { ...podNamed("first"), madeTomorrow: { by: ["nobody"] } });
    const pod = await client.get(pods, first);
    assert.deepEqual((pod as unknown as { madeTomorrow: unknown }).madeTomorrow, { by: ["nobody"] });
  });

  it("tells itself apart from other programs", async (test) => {
    const { server, client } = await startFakeCluster(test);
    await client.list(pods);
    assert.equal(server.requests[0]?.headers["user-agent"], "enginekeeper-test/1");
  });

  it("lists page by page, and says as of when", async (test) => {
    const { server, client } = await startFakeCluster(test);
    for (let i = 0; i < 7; i++) server.store.put(collections.pods, podNamed(`pod-${i}`));
    const list = await client.list(pods, { namespace: "trading", pageSize: 3 });
    assert.deepEqual(
      list.items.map((pod) => pod.metadata.name),
      [0, 1, 2, 3, 4, 5, 6].map((i) => `pod-${i}`),
    );
    assert.equal(list.metadata.resourceVersion, "107");
    assert.equal(server.requests.length, 3);
    assert.match(server.requests[1]?.path ?? "", /limit=3&continue=107%3A3$/);
  });

  it("keeps connections for the next read", async (test) => {
    const { server, client } = await startFakeCluster(test);
    server.store.put(collections.pods, podNamed("first"));
    for (let i = 0; i < 50; i++) await client.get(pods, first);
    // A connection is free again only a moment after its answer, so two may take turns.
    assert.ok(server.connections <= 2);
  });

  it("opens 16 connections at most for any number of calls at once", async (test) => {
    const { server, client } = await startFakeCluster(test);
    server.store.put(collections.pods, podNamed("first"));
    await Promise.all(Array.from({ length: 100 }, () => client.get(pods, first)));
    assert.ok(server.connections <= 16);
  });

  it("answers lease calls while all other connections are stuck", async (test) => {
    const { server, client } = await startFakeCluster(test);
    server.fail({ path: "/pods" }, { do: "stall" });
    const stuck = Array.from({ length: 40 }, () => client.get(pods, first).catch(() => undefined));
    await until("16 stuck calls", () => server.requests.length === 16);
    server.store.put(collections.configMaps, { metadata: { name: "first", namespace: "trading" } });
    assert.ok(await client.get(configMaps, first, { lane: "lease" }));
    await client.close();
    await Promise.all(stuck);
  });

  it("takes a namespace exactly where there is one, so that a call cannot go to another collection", async (test) => {
    const { client } = await startFakeCluster(test);
    assert.throws(() => client.get(pods, { name: "first" }), /Pod first needs a namespace/);
    assert.throws(() => client.get(nodes, first), /Node first is cluster-scoped/);
  });

  it("reads again when a kept-alive connection was closed just then", async (test) => {
    const { server, client } = await startFakeCluster(test);
    server.store.put(collections.pods, podNamed("first"));
    server.fail({ times: 2 }, { do: "reset" });
    assert.equal((await client.get(pods, first)).metadata.name, "first");
  });

  it("gives up at the deadline, whether nothing comes or only half", async (test) => {
    for (const fault of [{ do: "stall" }, { do: "stallInBody" }] as const) {
      const { server, client, clock } = await startFakeCluster(test);
      server.fail({}, fault);
      const call = client.get(pods, first, { timeoutMs: 3_000 });
      const refused = assert.rejects(call, rejectsAs("timeout"));
      await until("the request", () => server.requests.length === 1);
      await clock.advance(3_000);
      await refused;
    }
  });

  it("gives up as soon as its signal aborts", async (test) => {
    const { server, client } = await startFakeCluster(test);
    server.fail({}, { do: "stall" });
    const gone = new AbortController();
    const call = client.get(pods, first, { signal: gone.signal });
    await until("the request", () => server.requests.length === 1);
    gone.abort();
    await assert.rejects(call, rejectsAs("aborted"));
    await assert.rejects(client.get(pods, first, { signal: gone.signal }), rejectsAs("aborted"));
  });

  it("says that nobody listens", async (test) => {
    const { server, client } = await startFakeCluster(test);
    await server.goDown();
    await assert.rejects(client.get(pods, first), rejectsAs("unreachable"));
  });

  it("comes back when a busy server asks for it, and within the deadline only", async (test) => {
    const { server, client, clock } = await startFakeCluster(test);
    server.store.put(collections.pods, podNamed("first"));
    server.fail({ times: 2 }, { do: "status", code: 429, retryAfterSeconds: 1 });
    const call = client.get(pods, first);
    assert.ok((await clock.advanceUntil("the third try", () => server.requests.length === 3)) >= 2_000);
    await call;
    server.fail({}, { do: "status", code: 503, retryAfterSeconds: 60 });
    await assert.rejects(client.get(pods, first), rejectsAs("server"));
    assert.equal(server.requests.length, 4);
  });
});

describe("client: errors", () => {
  const cases: readonly { readonly fault: Extract<Fault, { do: "status" }>; readonly kind: ApiErrorKind }[] = [
    { fault: { do: "status", code: 400, reason: "BadRequest" }, kind: "badRequest" },
    { fault: { do: "status", code: 401, reason: "Unauthorized" }, kind: "unauthorized" },
    { fault: { do: "status", code: 403, reason: "Forbidden" }, kind: "forbidden" },
    { fault: { do: "status", code: 404, reason: "NotFound" }, kind: "notFound" },
    { fault: { do: "status", code: 409, reason: "AlreadyExists" }, kind: "alreadyExists" },
    { fault: { do: "status", code: 409, reason: "Conflict" }, kind: "conflict" },
    { fault: { do: "status", code: 410, reason: "Expired" }, kind: "expired" },
    { fault: { do: "status", code: 413, reason: "RequestEntityTooLarge" }, kind: "tooLarge" },
    { fault: { do: "status", code: 422, reason: "Invalid" }, kind: "invalid" },
    { fault: { do: "status", code: 429, reason: "TooManyRequests" }, kind: "tooManyRequests" },
    { fault: { do: "status", code: 500, reason: "InternalError" }, kind: "server" },
    { fault: { do: "status", code: 504, reason: "Timeout" }, kind: "timeout" },
    { fault: { do: "status", code: 418 }, kind: "other" },
  ];
  for (const { fault, kind } of cases) {
    it(`calls ${fault.code} ${fault.reason ?? ""} ${kind}`, async (test) => {
      const { server, client } = await startFakeCluster(test);
      server.fail({}, fault);
      await assert.rejects(client.get(pods, first), (error: unknown) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.kind, kind);
        assert.equal(error.code, fault.code);
        assert.equal(error.reason, fault.reason ?? "");
        assert.match(error.message, /^GET \/api\/v1\/namespaces\/trading\/pods\/first: the fake API server answers/);
        return true;
      });
    });
  }

  it("makes the best of an answer that a proxy gave", async (test) => {
    const { server, client } = await startFakeCluster(test);
    server.fail({}, { do: "answer", body: "<html>sign in</html>" });
    await assert.rejects(client.get(pods, first), rejectsAs("malformed"));
    await assert.rejects(client.list(pods), rejectsAs("malformed"));
  });
});

describe("client: writes", () => {
  it("creates, and says when it is there already", async (test) => {
    const { server, client } = await startFakeCluster(test);
    const made = await client.create(configMaps, { metadata: first, data: { a: "b" } }, { manager: "m" });
    assert.equal(made.metadata.resourceVersion, "101");
    assert.match(server.requests[0]?.path ?? "", /fieldManager=m$/);
    const sent = JSON.parse(server.requests[0]?.body ?? "") as object;
    assert.deepEqual(sent, { metadata: first, data: { a: "b" }, apiVersion: "v1", kind: "ConfigMap" });
    await assert.rejects(client.create(configMaps, { metadata: first }), rejectsAs("alreadyExists"));
  });

  it("updates only the version that was read", async (test) => {
    const { client } = await startFakeCluster(test);
    const read = await client.create(configMaps, { metadata: first, data: { a: "1" } });
    const written = await client.update(configMaps, { ...read, data: { a: "2" } });
    assert.deepEqual(written.data, { a: "2" });
    await assert.rejects(client.update(configMaps, { ...read, data: { a: "3" } }), isConflict);
  });

  it("applies as its field manager, and takes fields over only when told to", async (test) => {
    const { server, client } = await startFakeCluster(test);
    await client.apply(configMaps, { metadata: first, data: { a: "1" } }, { manager: "m" });
    await client.apply(pods, { metadata: first }, { manager: "m", force: true, subresource: "status", dryRun: true });
    const [plain, forced] = server.requests;
    assert.equal(plain?.method, "PATCH");
    assert.equal(plain.headers["content-type"], "application/apply-patch+yaml");
    assert.match(plain.path, /\?fieldManager=m$/);
    assert.match(forced?.path ?? "", /\/pods\/first\/status\?fieldManager=m&force=true&dryRun=All$/);
  });

  for (const [type, contentType] of [
    ["merge", "application/merge-patch+json"],
    ["json", "application/json-patch+json"],
    ["strategic", "application/strategic-merge-patch+json"],
  ] as const) {
    it(`sends a ${type} patch under its own content type`, async (test) => {
      const { server, client } = await startFakeCluster(test);
      await client.create(configMaps, { metadata: first });
      await client.patch(configMaps, first, { metadata: { labels: { a: "b" } } }, { type });
      assert.equal(server.requests[1]?.headers["content-type"], contentType);
    });
  }

  it("deletes only the object it means", async (test) => {
    const { server, client } = await startFakeCluster(test);
    const made = await client.create(configMaps, { metadata: first });
    const { uid } = made.metadata;
    await assert.rejects(client.delete(configMaps, first, { uid: "another" }), isConflict);
    await assert.rejects(client.delete(configMaps, first, { uid, resourceVersion: "1" }), isConflict);
    await client.delete(configMaps, first, { uid, gracePeriodSeconds: 0, propagationPolicy: "Foreground" });
    assert.deepEqual(JSON.parse(server.requests.at(-1)?.body ?? ""), {
      apiVersion: "v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      propagationPolicy: "Foreground",
      preconditions: { uid },
    });
    await assert.rejects(client.delete(configMaps, first), rejectsAs("notFound"));
  });

  it("does not repeat a write whose answer was lost: it may have taken effect", async (test) => {
    const { server, client } = await startFakeCluster(test);
    server.fail({ method: "POST" }, { do: "loseAnswer" });
    await assert.rejects(client.create(configMaps, { metadata: first }), rejectsAs("unreachable"));
    assert.equal(server.requests.length, 1);
    assert.ok(await client.get(configMaps, first));
  });

  it("repeats a write that a busy server has put off", async (test) => {
    const { server, client, clock } = await startFakeCluster(test);
    server.fail({ times: 1 }, { do: "status", code: 429, retryAfterSeconds: 1 });
    const call = client.create(configMaps, { metadata: first });
    await clock.advanceUntil("the second try", () => server.requests.length === 2);
    await call;
  });
});

describe("client: fence", () => {
  it("refuses each write, unsent, while the fence is closed, and lets reads pass", async (test) => {
    const { server, client, clock } = await startFakeCluster(test);
    server.store.put(collections.configMaps, { metadata: first });
    const fence = createFence(clock);
    const fenced = client.withFence(fence);
    const writes = [
      () => fenced.create(configMaps, { metadata: first }),
      () => fenced.update(configMaps, { metadata: first }),
      () => fenced.apply(configMaps, { metadata: first }, { manager: "m" }),
      () => fenced.patch(configMaps, first, {}, { type: "merge" }),
      () => fenced.delete(configMaps, first),
      () => fenced.raw({ method: "POST", path: "/api/v1/pods", body: "{}" }),
    ];
    for (const write of writes) await assert.rejects(write(), isFenced);
    assert.equal(server.requests.length, 0);
    await fenced.get(configMaps, first);

    fence.allowUntil(clock.now() + 1_000);
    await fenced.patch(configMaps, first, {}, { type: "merge" });
    await clock.jump(1_000);
    await assert.rejects(fenced.patch(configMaps, first, {}, { type: "merge" }), isFenced);
    assert.equal(server.requests.length, 2);
  });

  it("does not send a write that waited for its connection until after the fence had closed", async (test) => {
    const { server, client, clock } = await startFakeCluster(test);
    server.fail({ method: "GET" }, { do: "stall" });
    const reads = Array.from({ length: 16 }, () =>
      client.get(pods, first, { timeoutMs: 5_000 }).catch(() => undefined),
    );
    await until("16 busy connections", () => server.requests.length === 16);
    const fence = createFence(clock);
    fence.allowUntil(clock.now() + 6_000);
    const write = client.withFence(fence).create(configMaps, { metadata: first });
    const refused = assert.rejects(write, (error: unknown) => isFenced(error) || rejectsAs("timeout")(error));
    await clock.jump(6_000);
    await Promise.all([refused, ...reads]);
    assert.equal(server.requests.filter((request) => request.method === "POST").length, 0);
  });

  it("gives up on a write that is on its way when the fence closes", async (test) => {
    const { server, client, clock } = await startFakeCluster(test);
    server.fail({}, { do: "stall" });
    const fence = createFence(clock);
    fence.allowUntil(clock.now() + 1_000);
    const write = client.withFence(fence).create(configMaps, { metadata: first });
    const refused = assert.rejects(write, rejectsAs("timeout"));
    await until("the request", () => server.requests.length === 1);
    await clock.advance(1_000);
    await refused;
  });
});

describe("client: credentials", () => {
  it("sends the present token, and once more with a fresh one after 401", async (test) => {
    const { server } = await startFakeCluster(test);
    server.store.put(collections.pods, podNamed("first"));
    const asked: boolean[] = [];
    const client = createKubeClient({
      userAgent: "test/1",
      access: {
        ...server.access,
        credentials(refused = false) {
          asked.push(refused);
          return Promise.resolve({ headers: { authorization: refused ? "Bearer new" : "Bearer old" }, tls: {} });
        },
      },
    });
    test.after(() => client.close());
    server.fail({ times: 1 }, { do: "status", code: 401, reason: "Unauthorized" });
    await client.get(pods, first);
    assert.deepEqual(
      server.requests.map((request) => request.headers.authorization),
      ["Bearer old", "Bearer new"],
    );
    assert.equal(asked.filter((refused) => refused).length, 1);
  });

  it("says that credentials cannot be read", async (test) => {
    const { server } = await startFakeCluster(test);
    const credentials = () => Promise.reject(new Error("no such file"));
    const client = createKubeClient({ userAgent: "test/1", access: { ...server.access, credentials } });
    test.after(() => client.close());
    await assert.rejects(client.get(pods, first), /cannot read credentials: no such file/);
  });

  it("keeps the path of a server behind a proxy", async (test) => {
    const { server } = await startFakeCluster(test);
    const access = { ...server.access, server: `${server.access.server}/clusters/one/` };
    const client = createKubeClient({ userAgent: "test/1", access });
    test.after(() => client.close());
    await assert.rejects(client.get(pods, first), rejectsAs("notFound"));
    assert.equal(server.requests[0]?.path, "/clusters/one/api/v1/namespaces/trading/pods/first");
  });
});
