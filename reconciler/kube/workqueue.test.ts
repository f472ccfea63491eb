import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createVirtualClock } from "../../tests/fakeApiServer/virtualClock.ts";
import { createWorkqueue, type Workqueue } from "./workqueue.ts";

const setUp = () => {
  const clock = createVirtualClock();
  return { clock, queue: createWorkqueue<string>({ name: "test", clock }) };
};

/** Takes all that waits now, leaving it in work. */
const takeAll = async (queue: Workqueue<string>): Promise<string[]> => {
  const taken: string[] = [];
  while (queue.depth > 0) taken.push((await queue.get()) ?? assert.fail("shut down"));
  return taken;
};

describe("workqueue", () => {
  it("holds a key once, however often it is added", async () => {
    const { queue } = setUp();
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    assert.deepEqual(await takeAll(queue), ["a", "b"]);
  });

  it("keeps a key that is added while in work until that work is done", async () => {
    const { queue } = setUp();
    queue.add("a");
    await queue.get();
    queue.add("a");
    queue.add("a");
    assert.equal(queue.depth, 0);
    queue.done("a");
    assert.deepEqual(await takeAll(queue), ["a"]);
    queue.done("a");
    assert.equal(queue.depth, 0);
  });

  it("hands a key to the one that waited longest for it", async () => {
    const { queue } = setUp();
    const [first, second] = [queue.get(), queue.get()];
    queue.add("a");
    queue.add("b");
    assert.deepEqual(await Promise.all([first, second]), ["a", "b"]);
  });

  it("gives up waiting when the signal aborts, and loses no key by it", async () => {
    const { queue } = setUp();
    const gone = new AbortController();
    const taken = queue.get(gone.signal);
    gone.abort();
    assert.equal(await taken, undefined);
    assert.equal(await queue.get(gone.signal), undefined);
    queue.add("a");
    assert.equal(await queue.get(), "a");
  });

  it("hands out higher priorities first, and equal ones in the order they came", async () => {
    const { queue } = setUp();
    queue.add("start-1", { priority: -100 });
    queue.add("start-2", { priority: -100 });
    queue.add("change");
    queue.add("repair", { priority: 10 });
    assert.deepEqual(await takeAll(queue), ["repair", "change", "start-1", "start-2"]);
  });

  it("raises a waiting key to the higher priority, and never lowers it", async () => {
    const { queue } = setUp();
    queue.add("a");
    queue.add("b", { priority: 1 });
    queue.add("a", { priority: 2 });
    queue.add("a", { priority: -5 });
    assert.deepEqual(await takeAll(queue), ["a", "b"]);
  });

  it("adds later, at the earliest of the times asked for", async () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 500);
    queue.addAfter("a", 100);
    queue.addAfter("a", 900);
    await clock.advance(99);
    assert.equal(queue.depth, 0);
    await clock.advance(1);
    assert.deepEqual(await takeAll(queue), ["a"]);
    queue.done("a");
    await clock.advance(1000);
    assert.equal(queue.depth, 0);
  });

  it("waits 5 ms x 2^n after failures, at most 1000 s, and starts over after forget", async () => {
    const { clock, queue } = setUp();
    const failAndExpectWaitOf = async (ms: number): Promise<void> => {
      queue.addRateLimited("a");
      await clock.advance(ms - 1);
      assert.equal(queue.depth, 0, `waits ${ms} ms`);
      await clock.advance(1);
      assert.deepEqual(await takeAll(queue), ["a"]);
      queue.done("a");
    };
    for (let failures = 0; failures < 18; failures++) await failAndExpectWaitOf(5 * 2 ** failures);
    await failAndExpectWaitOf(1_000_000);
    await failAndExpectWaitOf(1_000_000);
    assert.equal(queue.retries("a"), 20);
    queue.forget("a");
    await failAndExpectWaitOf(5);
  });

  it("drains on shutdown: hands out what waits, takes nothing new, and ends when all is done", async () => {
    const { clock, queue } = setUp();
    queue.add("a");
    queue.add("b");
    queue.addAfter("later", 10);
    await queue.get();
    let drained = false;
    const shutDown = queue.shutDown({ drain: true }).then(() => (drained = true));
    queue.add("c");
    await clock.advance(20);
    assert.equal(await queue.get(), "b");
    queue.done("a");
    await clock.advance(1);
    assert.equal(drained, false);
    queue.done("b");
    await shutDown;
    assert.equal(await queue.get(), undefined);
  });

  it("drops on shutdown without drain what was not begun, and releases those who wait", async () => {
    const { queue } = setUp();
    const waiting = queue.get();
    queue.add("a");
    assert.equal(await waiting, "a");
    queue.add("b");
    const other = queue.get();
    assert.equal(await other, "b");
    const idle = queue.get();
    const ended = queue.shutDown();
    assert.equal(await idle, undefined);
    queue.done("a");
    queue.done("b");
    await ended;
  });

  it("refuses the end of work that never began", () => {
    assert.throws(() => setUp().queue.done("a"), /not in work/);
  });

  it("does as a simple model: each key is in one place, and none is lost (model)", async () => {
    const key = fc.constantFrom("a", "b", "c");
    const step = fc.oneof(
      fc.record({ do: fc.constant("add" as const), key, priority: fc.integer({ min: -1, max: 1 }) }),
      fc.record({ do: fc.constant("get" as const) }),
      fc.record({ do: fc.constant("done" as const), key }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { queue } = setUp();
        let waiting: { readonly key: string; readonly priority: number }[] = [];
        const inWork = new Set<string>();
        const again = new Map<string, number>();
        const enqueue = (added: string, priority: number) => {
          const present = waiting.find((entry) => entry.key === added);
          if (present !== undefined && present.priority >= priority) return;
          waiting = [...waiting.filter((entry) => entry.key !== added), { key: added, priority }];
        };
        for (const each of steps) {
          switch (each.do) {
            case "add":
              queue.add(each.key, { priority: each.priority });
              if (inWork.has(each.key)) again.set(each.key, Math.max(each.priority, again.get(each.key) ?? -9));
              else enqueue(each.key, each.priority);
              break;
            case "get": {
              const [next] = waiting.toSorted((a, b) => b.priority - a.priority);
              if (next === undefined) break;
              assert.equal(await queue.get(), next.key);
              waiting = waiting.filter((entry) => entry !== next);
              inWork.add(next.key);
              break;
            }
            case "done":
              if (!inWork.delete(each.key)) break;
              queue.done(each.key);
              if (again.has(each.key)) enqueue(each.key, again.get(each.key) ?? 0);
              again.delete(each.key);
              break;
          }
          assert.equal(queue.depth, waiting.length);
        }
      }),
    );
  });
});
