import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Registry } from "prom-client";
import { until } from "../../tests/fakeApiServer/until.ts";
import { createVirtualClock } from "../../tests/fakeApiServer/virtualClock.ts";
import { type Reconcile, runWorkers, TerminalError, type WorkersOptions } from "./controller.ts";
import { createKubeMetrics } from "./metrics.ts";
import { createWorkqueue } from "./workqueue.ts";

const setUp = (reconcile: Reconcile<string>, options: Partial<WorkersOptions> = {}) => {
  const clock = createVirtualClock();
  const registry = new Registry();
  const metrics = createKubeMetrics(registry);
  const queue = createWorkqueue<string>({ name: "engines", clock, metrics });
  const stop = new AbortController();
  const logs: { readonly level: string; readonly fields: object }[] = [];
  const ended = runWorkers(queue, reconcile, {
    name: "engines",
    logger: {
      warn: (fields) => void logs.push({ level: "warn", fields }),
      error: (fields) => void logs.push({ level: "error", fields }),
    },
    signal: stop.signal,
    clock,
    metrics,
    ...options,
  });
  return { clock, registry, queue, stop, logs, ended };
};

const sample = async (registry: Registry, line: string) => (await registry.metrics()).split("\n").includes(line);

describe("workers", () => {
  it("forget the failures of a key that succeeded", async () => {
    let runs = 0;
    const { clock, queue, registry } = setUp(() => {
      runs++;
      return runs < 3 ? Promise.reject(new Error("not yet")) : Promise.resolve(undefined);
    });
    queue.add("a");
    await clock.advance(5);
    await clock.advance(10);
    assert.equal(runs, 3);
    assert.equal(queue.retries("a"), 0);
    assert.ok(await sample(registry, 'controller_runtime_reconcile_total{controller="engines",result="error"} 2'));
    assert.ok(await sample(registry, 'controller_runtime_reconcile_total{controller="engines",result="success"} 1'));
    assert.ok(await sample(registry, 'controller_runtime_reconcile_errors_total{controller="engines"} 2'));
    assert.ok(await sample(registry, 'controller_runtime_active_workers{controller="engines"} 0'));
  });

  it("come back to a key when its reconcile asks for it", async () => {
    let runs = 0;
    const { clock, queue } = setUp(() => {
      runs++;
      return Promise.resolve({ requeueAfterMs: 2_000 });
    });
    queue.add("a");
    await clock.advance(1_999);
    assert.equal(runs, 1);
    await clock.advance(1);
    assert.equal(runs, 2);
  });

  it("leave a key alone after a terminal error, and say so", async () => {
    let runs = 0;
    const { clock, queue, logs, registry } = setUp(() => {
      runs++;
      return Promise.reject(new TerminalError("the spec makes no sense"));
    });
    queue.add("a");
    await clock.advance(2_000_000);
    assert.equal(runs, 1);
    assert.equal(logs[0]?.level, "error");
    assert.ok(await sample(registry, 'controller_runtime_terminal_reconcile_errors_total{controller="engines"} 1'));
  });

  it("survive whatever a reconcile throws, and log it with the id of the run", async () => {
    const ids: string[] = [];
    const { clock, queue, logs, registry } = setUp((_, { reconcileId }) => {
      ids.push(reconcileId);
      throw "not an Error" as unknown as Error;
    });
    queue.add("a");
    await clock.advance(5);
    assert.equal(new Set(ids).size, 2);
    assert.deepEqual(
      logs.map(({ fields }) => (fields as { reconcileId: string }).reconcileId),
      ids,
    );
    assert.ok(await sample(registry, 'controller_runtime_reconcile_panics_total{controller="engines"} 2'));
  });

  it("abort a reconcile at its deadline, and free its worker only when it has ended", async () => {
    const aborted: string[] = [];
    let release = (): void => undefined;
    const { clock, queue, registry } = setUp(
      async (key, { signal }) => {
        if (key === "other") return undefined;
        signal.addEventListener("abort", () => void aborted.push(key));
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return undefined;
      },
      { deadlineMs: 1_000 },
    );
    queue.add("slow");
    queue.add("other");
    await clock.advance(1_000);
    assert.deepEqual(aborted, ["slow"]);
    assert.equal(queue.depth, 1);
    release();
    await until("the other key", () => queue.depth === 0);
    assert.ok(await sample(registry, 'controller_runtime_reconcile_timeouts_total{controller="engines"} 1'));
  });

  it("never run one key twice at a time, and run as many keys at once as there are workers", async () => {
    const running = new Map<string, number>();
    let most = 0;
    const { clock, queue } = setUp(
      async (key) => {
        running.set(key, (running.get(key) ?? 0) + 1);
        assert.equal(running.get(key), 1);
        most = Math.max(most, running.size);
        queue.add(key);
        await new Promise((resolve) => setImmediate(resolve));
        running.delete(key);
        return undefined;
      },
      { concurrency: 3 },
    );
    for (const key of ["a", "b", "c", "d", "e"]) queue.add(key);
    await clock.advance(1);
    assert.equal(most, 3);
    await queue.shutDown();
  });

  it("stop with their signal: the running reconcile is told, and nothing further begins", async () => {
    const started: string[] = [];
    const { queue, stop, ended } = setUp(async (key, { signal }) => {
      started.push(key);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      return undefined;
    });
    queue.add("a");
    queue.add("b");
    await until("the first", () => started.length === 1);
    stop.abort();
    await ended;
    assert.deepEqual(started, ["a"]);
  });
});
