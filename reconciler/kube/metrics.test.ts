import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Registry } from "prom-client";
import { collections, podNamed, startFakeCluster, until } from "../../tests/fakeApiServer/index.ts";
import { createKubeClient } from "./client.ts";
import { createInformer } from "./informer.ts";
import { createKubeMetrics } from "./metrics.ts";
import { pods } from "./resource.ts";
import { createWorkqueue } from "./workqueue.ts";

const linesOf = async (registry: Registry) => (await registry.metrics()).split("\n");

describe("metrics", () => {
  it("have the names and labels of controller-runtime, all at 0 from the start", async () => {
    const registry = new Registry();
    const metrics = createKubeMetrics(registry);
    metrics.controller("engines");
    metrics.workqueue("engines");
    metrics.elector("enginekeeper");
    metrics.informer("pods");
    const lines = await linesOf(registry);
    for (const expected of [
      'controller_runtime_reconcile_total{controller="engines",result="success"} 0',
      'controller_runtime_reconcile_total{controller="engines",result="error"} 0',
      'controller_runtime_reconcile_total{controller="engines",result="requeue"} 0',
      'controller_runtime_reconcile_total{controller="engines",result="requeue_after"} 0',
      'controller_runtime_reconcile_errors_total{controller="engines"} 0',
      'controller_runtime_terminal_reconcile_errors_total{controller="engines"} 0',
      'controller_runtime_reconcile_panics_total{controller="engines"} 0',
      'controller_runtime_reconcile_timeouts_total{controller="engines"} 0',
      'controller_runtime_reconcile_time_seconds_count{controller="engines"} 0',
      'controller_runtime_active_workers{controller="engines"} 0',
      'workqueue_depth{name="engines",controller="engines",priority="0"} 0',
      'workqueue_adds_total{name="engines",controller="engines"} 0',
      'workqueue_retries_total{name="engines",controller="engines"} 0',
      'workqueue_queue_duration_seconds_count{name="engines",controller="engines"} 0',
      'workqueue_work_duration_seconds_count{name="engines",controller="engines"} 0',
      'leader_election_master_status{name="enginekeeper"} 0',
      'leader_election_slowpath_total{name="enginekeeper"} 0',
      'informer_watch_restarts_total{name="pods"} 0',
    ]) {
      assert.ok(lines.includes(expected), expected);
    }
  });

  it("have the buckets of controller-runtime", async () => {
    const registry = new Registry();
    const metrics = createKubeMetrics(registry);
    metrics.controller("engines");
    metrics.workqueue("engines");
    const lines = await linesOf(registry);
    const buckets = (name: string) => lines.filter((line) => line.startsWith(`${name}_bucket{le="`)).length;
    // One more for +Inf.
    assert.equal(buckets("controller_runtime_reconcile_time_seconds"), 41);
    assert.equal(buckets("workqueue_queue_duration_seconds"), 13);
  });

  it("count requests by code, method and host, retries, and those that were never answered", async (test) => {
    const { server, clock } = await startFakeCluster(test);
    const registry = new Registry();
    const metrics = createKubeMetrics(registry);
    const client = createKubeClient({ access: server.access, userAgent: "test/1", clock, metrics });
    test.after(() => client.close());
    const ref = { namespace: "trading", name: "first" };
    await client.get(pods, ref).catch(() => undefined);
    server.store.put(collections.pods, podNamed("first"));
    server.fail({ times: 1 }, { do: "status", code: 429, retryAfterSeconds: 1 });
    const call = client.get(pods, ref);
    await clock.advanceUntil("the retry", () => server.requests.length === 3);
    await call;
    await server.goDown();
    await client.get(pods, ref).catch(() => undefined);
    const lines = await linesOf(registry);
    const host = new URL(server.access.server).host;
    for (const code of ["200", "404", "429", "<error>"]) {
      assert.ok(lines.includes(`rest_client_requests_total{code="${code}",method="GET",host="${host}"} 1`), code);
    }
    assert.ok(lines.includes(`rest_client_request_retries_total{code="429",verb="GET",host="${host}"} 1`));
    assert.ok(lines.includes(`rest_client_request_duration_seconds_count{verb="GET",host="${host}"} 4`));
  });

  it("tell the size of what was sent and of each answer, but not of a watch, which has no end", async (test) => {
    const { server, clock, signal } = await startFakeCluster(test);
    const registry = new Registry();
    const metrics = createKubeMetrics(registry);
    const client = createKubeClient({ access: server.access, userAgent: "test/1", clock, metrics });
    test.after(() => client.close());
    const ref = { namespace: "trading", name: "first" };
    await client.get(pods, ref).catch(() => undefined);
    const path = "/api/v1/namespaces/trading/pods";
    const body = JSON.stringify({ ...podNamed("first"), spec: "é".repeat(100) });
    const created = await client.raw({ method: "POST", path, body });
    const informer = createInformer({ client, resource: pods, clock });
    informer.start(signal);
    await until("the watch", () => server.requests.some((request) => request.path.includes("watch=true")));
    const host = new URL(server.access.server).host;
    const lines = await linesOf(registry);
    for (const [name, verb, value] of [
      ["rest_client_request_size_bytes_sum", "POST", Buffer.byteLength(body)],
      ["rest_client_response_size_bytes_sum", "POST", Buffer.byteLength(created.body)],
      // The error and the list.
      ["rest_client_response_size_bytes_count", "GET", 2],
      ["rest_client_request_size_bytes_sum", "GET", 0],
    ] as const) {
      assert.ok(lines.includes(`${name}{verb="${verb}",host="${host}"} ${value}`), `${name} ${verb} ${value}`);
    }
    assert.equal(
      lines.filter((line) => line.startsWith("rest_client_request_size_bytes_bucket{") && line.includes("GET")).length,
      12,
    );
  });

  it("tell the age of work that does not end", async (test) => {
    const { clock } = await startFakeCluster(test);
    const registry = new Registry();
    const queue = createWorkqueue({ name: "engines", clock, metrics: createKubeMetrics(registry) });
    for (const key of ["a", "b"]) {
      queue.add(key);
      await queue.get();
      await clock.advance(3_000);
    }
    const lines = await linesOf(registry);
    assert.ok(lines.includes('workqueue_unfinished_work_seconds{name="engines",controller="engines"} 9'));
    assert.ok(lines.includes('workqueue_longest_running_processor_seconds{name="engines",controller="engines"} 6'));
  });

  it("tell how an informer fares: objects, age of its watch and of the last event, lists by cause", async (test) => {
    const { server, client, clock, signal } = await startFakeCluster(test);
    const registry = new Registry();
    server.store.put(collections.pods, podNamed("first"));
    const informer = createInformer({ client, resource: pods, clock, metrics: createKubeMetrics(registry) });
    informer.start(signal);
    await until("the watch", () => server.watches.length === 1);
    await until("the list", () => informer.hasSynced());
    server.watches[0]?.sendError(410, "Expired");
    await until("the second watch", () => server.watches.length === 2);
    await clock.advance(30_000);
    const lines = await linesOf(registry);
    for (const expected of [
      'informer_objects{name="pods"} 1',
      'informer_watch_age_seconds{name="pods"} 30',
      'informer_last_event_age_seconds{name="pods"} 30',
      'informer_relists_total{name="pods",cause="start"} 1',
      'informer_relists_total{name="pods",cause="expired"} 1',
      'informer_watch_restarts_total{name="pods"} 2',
    ]) {
      assert.ok(lines.includes(expected), expected);
    }
  });
});
