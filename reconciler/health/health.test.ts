import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Gauge, Registry } from "prom-client";
import { createRoleMetrics } from "../metrics/index.ts";
import { healthPages, metricsPages, serve } from "./index.ts";

const start = async (test: TestContext, routes: Parameters<typeof serve>[1]) => {
  const server = await serve(0, routes);
  test.after(() => server.close());
  return {
    port: server.port,
    get: async (path: string, method = "GET") => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
      return { status: response.status, body: await response.text(), type: response.headers.get("content-type") };
    },
  };
};

describe("the health pages", () => {
  it("are alive at once, and ready once the local copies are complete", async (test) => {
    let isReady = false;
    const { get } = await start(test, healthPages({ isReady: () => isReady }));
    assert.equal((await get("/healthz")).status, 200);
    assert.equal((await get("/readyz")).status, 503);
    isReady = true;
    assert.equal((await get("/readyz?verbose")).status, 200);
  });

  it("answer nothing else", async (test) => {
    const { get } = await start(test, healthPages({ isReady: () => true }));
    assert.equal((await get("/")).status, 404);
    assert.equal((await get("/healthz", "POST")).status, 405);
  });

  it("say which port is taken", async (test) => {
    const { port } = await start(test, {});
    await assert.rejects(serve(port, {}), new RegExp(`port ${port} cannot be used`));
  });
});

describe("the metrics page", () => {
  it("has the role lane's series, and none of an engine that is gone", async (test) => {
    const registry = new Registry();
    const metrics = createRoleMetrics(registry);
    const engine = { namespace: "trading", name: "te" };
    metrics.electionEnded({
      engine,
      kind: "failover",
      cause: "ProcessExited",
      outcome: "elected",
      phases: { lockMs: 6, totalMs: 29 },
    });
    let engines = [{ engine, epoch: 4, hasPrimary: true, isBlocked: false, streams: { live: 3, ended: 0 } }];
    metrics.onScrape(() => engines);
    const { get } = await start(test, metricsPages(registry));
    const { body, type } = await get("/metrics");
    assert.match(type ?? "", /text\/plain/);
    assert.match(body, /enginekeeper_elections_total\{kind="failover",cause="ProcessExited",outcome="elected"\} 1/);
    assert.match(body, /enginekeeper_election_duration_seconds_sum\{kind="failover",phase="total"\} 0\.029/);
    assert.match(body, /enginekeeper_engine_epoch\{namespace="trading",engine="te"\} 4/);
    assert.match(body, /enginekeeper_status_streams\{namespace="trading",engine="te",state="live"\} 3/);
    engines = [];
    assert.doesNotMatch((await get("/metrics")).body, /engine="te"/);
  });

  it("answers 500 with the reason when a series cannot be read", async (test) => {
    const registry = new Registry();
    const collect = (): void => {
      throw new Error("no figure");
    };
    registry.registerMetric(new Gauge({ name: "broken", help: "Never there.", registers: [], collect }));
    const { get } = await start(test, metricsPages(registry));
    const { status, body } = await get("/metrics");
    assert.equal(status, 500);
    assert.match(body, /no figure/);
  });
});
