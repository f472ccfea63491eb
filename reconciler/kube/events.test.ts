import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { collections, startFakeCluster, until } from "../../tests/fakeApiServer/index.ts";
import { createEventRecorder, type EventInput } from "./events.ts";
import type { KubeObject } from "./kubeObject.ts";

const minute = 60_000;

const engine: KubeObject = {
  apiVersion: "enginekeeper.dev/v1alpha1",
  kind: "TradingEngine",
  metadata: { name: "btc-usdt", namespace: "trading", uid: "u1", resourceVersion: "5", creationTimestamp: "" },
};

const failover: EventInput = {
  regarding: engine,
  type: "Warning",
  reason: "FailoverStarted",
  action: "Failover",
  note: "btc-usdt-0 does not answer",
};

const setUp = async (test: TestContext) => {
  const cluster = await startFakeCluster(test);
  const warnings: string[] = [];
  const logger = { warn: (_: object, message: string) => void warnings.push(message), error: () => undefined };
  const recorder = createEventRecorder({
    client: cluster.client,
    component: "enginekeeper.dev/reconciler",
    instance: "enginekeeper-0",
    clock: cluster.clock,
    logger,
  });
  const stored = () => cluster.server.store.list(collections.events, undefined);
  const seriesOf = (index: number) => stored()[index]?.["series"] as { count: number } | undefined;
  return { ...cluster, recorder, warnings, stored, seriesOf };
};

describe("event recorder", () => {
  it("writes who did what to which object and why", async (test) => {
    const { recorder, stored } = await setUp(test);
    const pod = { ...engine, apiVersion: "v1", kind: "Pod", metadata: { ...engine.metadata, name: "btc-usdt-0" } };
    recorder.event({ ...failover, related: pod });
    await until("the event", () => stored().length === 1);
    const { metadata, ...rest } = stored()[0] ?? assert.fail("no event");
    assert.match(metadata.name, /^btc-usdt\.[0-9a-f]+$/);
    assert.equal(metadata.namespace, "trading");
    const reference = { namespace: "trading", uid: "u1", resourceVersion: "5" };
    assert.deepEqual(rest, {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "enginekeeper.dev/reconciler",
      reportingInstance: "enginekeeper-0",
      type: "Warning",
      reason: "FailoverStarted",
      action: "Failover",
      note: "btc-usdt-0 does not answer",
      regarding: { ...reference, apiVersion: engine.apiVersion, kind: "TradingEngine", name: "btc-usdt" },
      related: { ...reference, apiVersion: "v1", kind: "Pod", name: "btc-usdt-0" },
    });
  });

  it("puts events of cluster-scoped objects into the default namespace", async (test) => {
    const { recorder, stored } = await setUp(test);
    const metadata = { name: "node-1", uid: "u2", resourceVersion: "5", creationTimestamp: "" };
    recorder.event({ ...failover, regarding: { apiVersion: "v1", kind: "Node", metadata } });
    await until("the event", () => stored().length === 1);
    assert.equal(stored()[0]?.metadata.namespace, "default");
  });

  it("cuts a long note to what the API takes, between characters", async (test) => {
    const { recorder, stored } = await setUp(test);
    recorder.event({ ...failover, note: "ä".repeat(600) });
    await until("the event", () => stored().length === 1);
    const note = stored()[0]?.["note"] as string;
    assert.ok(Buffer.byteLength(note) <= 1024);
    assert.match(note, /^ä{510}\.\.\.$/);
  });

  it("makes one series of the same event again and again, and writes it rarely", async (test) => {
    const { server, clock, recorder, stored, seriesOf } = await setUp(test);
    recorder.event(failover);
    await until("the event", () => stored().length === 1);
    recorder.event(failover);
    await until("the series", () => seriesOf(0)?.count === 2);
    for (let i = 0; i < 100; i++) recorder.event(failover);
    await clock.advance(minute);
    assert.equal(server.requests.length, 2);
    await clock.advanceUntil("its end, after six quiet minutes", () => seriesOf(0)?.count === 102, minute);
    assert.equal(stored().length, 1);
    assert.equal(clock.pending, 0, "and nothing is left to do");
  });

  it("refreshes a series that goes on every half hour, before the API server forgets it", async (test) => {
    const { server, clock, recorder, stored, seriesOf } = await setUp(test);
    recorder.event(failover);
    await until("the event", () => stored().length === 1);
    for (let passed = 0; passed < 40; passed++) {
      recorder.event(failover);
      await clock.advance(minute);
    }
    await until("the refresh", () => (seriesOf(0)?.count ?? 0) > 30);
    assert.equal(server.requests.length, 3);
  });

  it("takes what differs in its note, or comes after a pause, for a new event", async (test) => {
    const { clock, recorder, stored } = await setUp(test);
    recorder.event(failover);
    recorder.event({ ...failover, note: "btc-usdt-1 does not answer" });
    await until("two events", () => stored().length === 2);
    for (let i = 0; i < 8; i++) await clock.advance(minute);
    recorder.event(failover);
    await until("a third", () => stored().length === 3);
  });

  it("writes a series anew when the API server has forgotten its event", async (test) => {
    const { server, recorder, stored, seriesOf } = await setUp(test);
    recorder.event(failover);
    await until("the event", () => stored().length === 1);
    const { name, namespace } = stored()[0]?.metadata ?? assert.fail("no event");
    server.store.remove(collections.events, namespace, name);
    recorder.event(failover);
    await until("the series", () => seriesOf(0)?.count === 2);
  });

  it("tries for two minutes while the API server is away, and keeps the order", async (test) => {
    const { server, clock, recorder, stored } = await setUp(test);
    await server.goDown();
    recorder.event(failover);
    recorder.event({ ...failover, note: "second" });
    for (let i = 0; i < 5; i++) await clock.advance(10_000);
    await server.comeUp();
    await clock.advanceUntil("both events", () => stored().length === 2, 1_000);
    assert.deepEqual(
      stored().map((event) => event["note"]),
      [failover.note, "second"],
    );
  });

  it("drops an event after 12 tries, 10 s apart", async (test) => {
    const { server, clock, recorder, warnings } = await setUp(test);
    server.fail({}, { do: "status", code: 500 });
    recorder.event(failover);
    const waited = await clock.advanceUntil("the drop", () => warnings.length === 1, 1_000);
    assert.ok(waited >= 110_000);
    assert.deepEqual(warnings, ["event dropped"]);
    assert.equal(server.requests.length, 12);
  });

  it("does not repeat what the API server refuses", async (test) => {
    const { server, recorder, warnings, stored } = await setUp(test);
    server.fail({ times: 1 }, { do: "status", code: 403, reason: "Forbidden" });
    recorder.event(failover);
    recorder.event({ ...failover, note: "second" });
    await until("the second", () => stored().length === 1);
    assert.deepEqual(warnings, ["event dropped"]);
    assert.equal(server.requests.length, 2);
  });

  it("holds 1000 events at most, and never the caller", async (test) => {
    const { server, recorder, warnings } = await setUp(test);
    server.fail({}, { do: "stall" });
    for (let i = 0; i < 1_500; i++) recorder.event({ ...failover, note: String(i) });
    assert.ok(warnings.length >= 499 && warnings.length <= 500);
    assert.ok(warnings.every((message) => message === "event dropped: the queue is full"));
  });

  it("writes what it has before it stops, and takes nothing more", async (test) => {
    const { recorder, stored } = await setUp(test);
    for (let i = 0; i < 10; i++) recorder.event({ ...failover, note: String(i) });
    const stopped = recorder.stop();
    recorder.event({ ...failover, note: "late" });
    await stopped;
    assert.equal(stored().length, 10);
  });

  it("stops at once when told not to wait", async (test) => {
    const { server, recorder, stored } = await setUp(test);
    await server.goDown();
    recorder.event(failover);
    await recorder.stop(AbortSignal.abort());
    assert.equal(stored().length, 0);
  });
});
