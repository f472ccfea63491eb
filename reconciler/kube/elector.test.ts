import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { collections, type FakeCluster, startFakeCluster, until } from "../../tests/fakeApiServer/index.ts";
import { createElector, type ElectorOptions } from "./elector.ts";
import { isFenced } from "./errors.ts";
import { configMaps } from "./resource.ts";

const lease = { namespace: "trading", name: "enginekeeper" };
const timing = { durationMs: 4_000, renewDeadlineMs: 3_000, retryMs: 1_000 };

/** A candidate that leads for as long as it may. */
const candidate = (cluster: FakeCluster, identity: string, options: Partial<ElectorOptions> = {}) => {
  const { client, clock } = cluster;
  const elector = createElector({ client, lease, identity, clock, random: () => 0, ...timing, ...options });
  const stop = new AbortController();
  const log: string[] = [];
  cluster.signal.addEventListener("abort", () => stop.abort());
  const run = () =>
    elector.run(stop.signal, {
      async onStartedLeading(signal) {
        log.push("started");
        await once(signal, "abort");
        log.push("work ended");
      },
      onStoppedLeading: () => void log.push("stopped"),
    });
  return { elector, stop, log, run, fenced: client.withFence(elector.fence()) };
};

const setUp = async (test: TestContext) => {
  const cluster = await startFakeCluster(test);
  const record = () => cluster.server.store.get(collections.leases, lease.namespace, lease.name)?.["spec"];
  return { cluster, clock: cluster.clock, server: cluster.server, record };
};

const write = { metadata: { namespace: "trading", name: "written" } };

describe("elector", () => {
  it("creates the lease when there is none, and leads", async (test) => {
    const { cluster, record } = await setUp(test);
    const a = candidate(cluster, "a");
    void a.run();
    await until("leadership", () => a.elector.isLeader());
    assert.deepEqual(record(), {
      holderIdentity: "a",
      leaseDurationSeconds: 4,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
    await a.fenced.create(configMaps, write);
  });

  it("renews by one write, without reading first, for as long as it lives", async (test) => {
    const { cluster, clock, server } = await setUp(test);
    const a = candidate(cluster, "a");
    void a.run();
    await until("leadership", () => a.elector.isLeader());
    const before = server.requests.length;
    await clock.advanceUntil("ten renewals", () => server.requests.length >= before + 10);
    assert.ok(server.requests.slice(before).every((request) => request.method === "PUT"));
    assert.ok(a.elector.isLeader());
  });

  it("has one leader of two, and passes on at once when the first one leaves", async (test) => {
    const { cluster, clock, record } = await setUp(test);
    const a = candidate(cluster, "a");
    const b = candidate(cluster, "b");
    const left = a.run();
    await until("a leads", () => a.elector.isLeader());
    void b.run();
    await clock.advance(10_000);
    assert.equal(b.elector.isLeader(), false);
    assert.equal(b.elector.holder(), "a");

    a.stop.abort();
    assert.equal(await left, "stopped");
    assert.deepEqual(a.log, ["started", "work ended", "stopped"]);
    assert.equal((record() as { holderIdentity: string }).holderIdentity, "");
    const waited = await clock.advanceUntil("b leads", () => b.elector.isLeader());
    assert.ok(waited < 4_000, "without waiting for the lease to run out");
    assert.equal((record() as { leaseTransitions: number }).leaseTransitions, 2 - 1);
  });

  it("takes over from a holder that vanished, after its whole time and not before", async (test) => {
    const { cluster, clock, server } = await setUp(test);
    const spec = { holderIdentity: "gone", leaseDurationSeconds: 4, renewTime: "2030-01-01T00:00:00.000000Z" };
    server.store.put(collections.leases, { metadata: lease, spec });
    const a = candidate(cluster, "a");
    void a.run();
    const waited = await clock.advanceUntil("leadership", () => a.elector.isLeader());
    assert.ok(waited >= 4_000);
  });

  it("loses leadership at the renew deadline when the API server is away, and before another can have it", async (test) => {
    const { cluster, clock, server } = await setUp(test);
    const a = candidate(cluster, "a");
    const lost = a.run();
    await until("leadership", () => a.elector.isLeader());
    const since = clock.now();
    await server.goDown();
    await clock.advanceUntil("the loss", () => !a.elector.isLeader());
    assert.equal(await lost, "lost");
    assert.ok(clock.now() - since >= 3_000 && clock.now() - since < 4_000);
    assert.ok(a.log.includes("stopped"));
    await assert.rejects(a.fenced.create(configMaps, write), isFenced);
  });

  for (const [name, fault] of [
    ["stalls", { do: "stall" }],
    ["answers 500", { do: "status", code: 500 }],
    ["loses its answers", { do: "loseAnswer" }],
    ["resets connections", { do: "reset" }],
  ] as const) {
    it(`outlasts a moment in which the API server ${name}`, async (test) => {
      const { cluster, clock, server } = await setUp(test);
      const a = candidate(cluster, "a");
      void a.run();
      await until("leadership", () => a.elector.isLeader());
      server.fail({ method: "PUT", times: 1 }, fault);
      const before = server.requests.length;
      await clock.advanceUntil("later renewals", () => server.requests.length >= before + 6);
      assert.deepEqual(a.log, ["started"]);
      assert.ok(a.elector.isLeader());
    });
  }

  it("writes nothing more after it was stopped past the deadline and resumed, though no timer told it", async (test) => {
    const { cluster, clock, server } = await setUp(test);
    const a = candidate(cluster, "a");
    const b = candidate(cluster, "b");
    const lost = a.run();
    await until("a leads", () => a.elector.isLeader());
    const before = server.requests.length;
    const late = clock.jump(3_000);
    await assert.rejects(a.fenced.create(configMaps, write), isFenced);
    await late;
    assert.equal(await lost, "lost");
    assert.equal(server.requests.length, before, "and does not even ask for the lease");
    void b.run();
    await clock.advanceUntil("b leads", () => b.elector.isLeader());
    await b.fenced.create(configMaps, write);
  });

  it("loses at once when another holds the lease", async (test) => {
    const { cluster, clock, server } = await setUp(test);
    const a = candidate(cluster, "a");
    const lost = a.run();
    await until("leadership", () => a.elector.isLeader());
    server.store.put(collections.leases, { metadata: lease, spec: { holderIdentity: "b", leaseDurationSeconds: 4 } });
    const waited = await clock.advanceUntil("the loss", () => !a.elector.isLeader());
    assert.equal(await lost, "lost");
    assert.ok(waited < 3_000);
    assert.equal(a.elector.holder(), "b");
  });

  it("keeps its lease when only other fields of it were changed", async (test) => {
    const { cluster, clock, server } = await setUp(test);
    const a = candidate(cluster, "a");
    void a.run();
    await until("leadership", () => a.elector.isLeader());
    const present = server.store.get(collections.leases, lease.namespace, lease.name) ?? assert.fail("no lease");
    const labels = { by: "someone" };
    server.store.put(collections.leases, { ...present, metadata: { ...present.metadata, labels } });
    const before = server.requests.length;
    await clock.advanceUntil("later renewals", () => server.requests.length >= before + 6);
    assert.ok(a.elector.isLeader());
    assert.deepEqual(server.store.get(collections.leases, lease.namespace, lease.name)?.metadata.labels, labels);
  });

  it("can campaign again after a loss", async (test) => {
    const { cluster, clock, server } = await setUp(test);
    const a = candidate(cluster, "a");
    const lost = a.run();
    await until("leadership", () => a.elector.isLeader());
    await server.goDown();
    await clock.advanceUntil("the loss", () => !a.elector.isLeader());
    await lost;
    await server.comeUp();
    void a.run();
    await clock.advanceUntil("leadership again", () => a.elector.isLeader());
  });

  it("frees the lease and passes the error on when the leader's work fails", async (test) => {
    const { cluster, record } = await setUp(test);
    const { elector } = candidate(cluster, "a");
    const work = () => Promise.reject(new Error("a fault of the work"));
    await assert.rejects(elector.run(new AbortController().signal, { onStartedLeading: work }), /a fault of the work/);
    assert.equal((record() as { holderIdentity: string }).holderIdentity, "");
    assert.equal(elector.isLeader(), false);
  });

  it("stops while it only campaigns, and writes nothing then", async (test) => {
    const { cluster, server, record } = await setUp(test);
    const spec = { holderIdentity: "other", leaseDurationSeconds: 4 };
    server.store.put(collections.leases, { metadata: lease, spec });
    const a = candidate(cluster, "a");
    const stopped = a.run();
    await until("the first look", () => server.requests.length === 1);
    a.stop.abort();
    assert.equal(await stopped, "stopped");
    assert.deepEqual(record(), spec);
    assert.deepEqual(a.log, []);
  });

  it("spreads the tries of candidates by up to 1.2 periods", async (test) => {
    const { cluster, clock, server } = await setUp(test);
    const spec = { holderIdentity: "other", leaseDurationSeconds: 4 };
    server.store.put(collections.leases, { metadata: lease, spec });
    void candidate(cluster, "a", { random: () => 1 }).run();
    await until("the first look", () => server.requests.length === 1);
    assert.ok((await clock.advanceUntil("the second look", () => server.requests.length === 2)) >= 2_200);
  });

  it("refuses settings under which two could lead, or one could not keep its lease", async (test) => {
    const { cluster } = await setUp(test);
    const equal = { durationMs: 3_000, renewDeadlineMs: 3_000 };
    assert.throws(() => candidate(cluster, "a", equal), /longer than the renew deadline/);
    assert.throws(() => candidate(cluster, "a", { retryMs: 2_500 }), /longer than 1.2 retry periods/);
    const defaults = { client: cluster.client, lease, identity: "a" };
    assert.equal(createElector(defaults).isLeader(), false);
  });
});
