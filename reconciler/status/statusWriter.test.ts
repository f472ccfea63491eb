import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import { startFakeApiServer } from "../../tests/fakeApiServer/index.ts";
import { createKubeClient } from "../kube/index.ts";
import { StatusWriter } from "./index.ts";

const collection = "/apis/enginekeeper.dev/v1alpha1/tradingengines";
const engine = { namespace: "trading", name: "te" };

const start = async (test: TestContext) => {
  const api = await startFakeApiServer();
  test.after(() => api.stop());
  const client = createKubeClient({ access: api.access, userAgent: "test" });
  test.after(() => client.close());
  const { uid } = api.store.put(collection, { kind: "TradingEngine", metadata: engine }).metadata;
  const errors: unknown[] = [];
  let time = 0;
  let written = 0;
  const writer = new StatusWriter({
    client,
    engine,
    now: () => time,
    onError: (error) => errors.push(error),
    onWritten: () => {
      written += 1;
    },
  });
  const eventually = async (holds: () => boolean): Promise<void> => {
    const deadline = performance.now() + 10_000;
    while (!holds()) {
      assert.ok(performance.now() < deadline, "it did not come true");
      await sleep(2);
    }
  };
  const patches = () => api.requests.filter(({ method }) => method === "PATCH");
  const pass = (ms: number): void => {
    time += ms;
  };
  return { api, writer, uid, errors, eventually, patches, pass, writes: () => written };
};

const trading: TradingEngineStatus = { phase: "Trading", epoch: 1 };
const degraded: TradingEngineStatus = { phase: "Degraded", epoch: 1 };

describe("writing a status", () => {
  it("is an apply of the whole status by its own field manager", async (test) => {
    const { api, writer, uid, patches, eventually, writes } = await start(test);
    assert.ok(writer.offer(uid, undefined, trading));
    await eventually(() => writes() === 1);
    const [request] = patches();
    assert.match(request?.path ?? "", /\/tradingengines\/te\/status\?.*fieldManager=enginekeeper-status/);
    assert.equal(request?.headers["content-type"], "application/apply-patch+yaml");
    assert.deepEqual(api.store.get(collection, "trading", "te")?.["status"], trading);
  });

  it("happens only when something changed, also before an informer shows the last write", async (test) => {
    const { writer, uid, patches, eventually, writes } = await start(test);
    assert.ok(writer.offer(uid, trading, { ...trading }));
    writer.offer(uid, trading, degraded);
    await eventually(() => writes() === 1);
    const before = writer.current(uid, trading);
    assert.deepEqual(before, degraded);
    assert.ok(writer.offer(uid, before, { ...degraded }));
    assert.equal(patches().length, 1);
  });

  it("is one at a time: what comes meanwhile is to be offered again", async (test) => {
    const { writer, uid, patches, eventually, writes } = await start(test);
    assert.ok(writer.offer(uid, undefined, trading));
    assert.ok(!writer.offer(uid, undefined, degraded));
    await eventually(() => writes() === 1);
    assert.ok(writer.offer(uid, writer.current(uid, undefined), degraded));
    await eventually(() => writes() === 2);
    assert.equal(patches().length, 2);
  });

  it("is tried again after a failure, but not at once", async (test) => {
    const { api, writer, uid, errors, eventually, pass, writes } = await start(test);
    api.fail({ method: "PATCH", times: 1 }, { do: "status", code: 403, reason: "Forbidden" });
    writer.offer(uid, undefined, trading);
    await eventually(() => errors.length === 1);
    await eventually(() => {
      pass(500);
      return writer.offer(uid, undefined, trading);
    });
    await eventually(() => writes() === 1);
  });

  it("is silent about an engine that is gone", async (test) => {
    const { api, writer, uid, errors, eventually, patches } = await start(test);
    api.fail({ method: "PATCH" }, { do: "status", code: 404, reason: "NotFound" });
    writer.offer(uid, undefined, trading);
    await eventually(() => patches().length === 1);
    await sleep(20);
    assert.deepEqual(errors, []);
  });

  it("compares with what informers show for another engine of the same name, and after a reset", async (test) => {
    const { writer, uid, eventually, writes } = await start(test);
    writer.offer(uid, undefined, trading);
    await eventually(() => writes() === 1);
    assert.equal(writer.current("another", degraded), degraded);
    writer.reset();
    assert.equal(writer.current(uid, degraded), degraded);
  });
});
