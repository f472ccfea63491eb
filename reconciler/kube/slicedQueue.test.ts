import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createSlicedQueue } from "./slicedQueue.ts";

/** A queue whose items cost a millisecond each, by a clock of its own. */
const setUp = (sliceMs: number) => {
  let now = 0;
  const ran: number[] = [];
  const queue = createSlicedQueue<number>({
    now: () => now,
    sliceMs,
    run(item) {
      now++;
      ran.push(item);
    },
  });
  return { queue, ran };
};

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe("sliced queue", () => {
  it("runs a little at once", () => {
    const { queue, ran } = setUp(20);
    queue.push([1, 2, 3]);
    assert.deepEqual(ran, [1, 2, 3]);
    queue.push([4]);
    assert.deepEqual(ran, [1, 2, 3, 4]);
  });

  it("lets other work run between the slices of a lot", async () => {
    const { queue, ran } = setUp(20);
    queue.push(upTo(100));
    const seen = [ran.length];
    while (ran.length < 100) {
      await nextTurn();
      seen.push(ran.length);
    }
    assert.deepEqual(seen, [32, 64, 96, 100]);
  });

  it("keeps the order when more comes while a lot is waiting", async () => {
    const { queue, ran } = setUp(10);
    queue.push(upTo(40));
    queue.push([40]);
    queue.push([41, 42]);
    while (ran.length < 43) await nextTurn();
    assert.deepEqual(ran, upTo(43));
    queue.push([43]);
    assert.equal(ran.at(-1), 43);
  });
});
