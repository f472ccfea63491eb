import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Clock } from "./clock.ts";
import { LeaderSearch } from "./leaderSearch.ts";

/** Records how long each sleeper wants to sleep; a sleep ends when its wake signal does, or at once without one. */
function recordingClock(): { clock: Clock; slept: number[] } {
  const slept: number[] = [];
  const clock: Clock = {
    now: () => 0,
    sleep: (ms, wake) => {
      slept.push(ms);
      if (wake === undefined) return Promise.resolve();
      return new Promise((resolve) => wake.addEventListener("abort", () => resolve()));
    },
  };
  return { clock, slept };
}

describe("LeaderSearch", () => {
  it("sends every worker to the next replica right away after its first failure", async () => {
    const { clock, slept } = recordingClock();
    const search = new LeaderSearch(clock, () => 0);
    await Promise.all([search.beforeRetry({}, 1), search.beforeRetry({}, 1)]);
    assert.deepEqual(slept, []);
  });

  it("lets one worker probe every 5 to 20 ms while the others wait for it", async () => {
    const { clock, slept } = recordingClock();
    const search = new LeaderSearch(clock, () => 0.5);
    const [first, second] = [{}, {}];
    await search.beforeRetry(first, 2);
    const waiting = search.beforeRetry(second, 2);
    await search.beforeRetry(first, 3);
    assert.deepEqual(slept, [12.5, 250, 12.5]);

    search.found();
    await waiting;
  });

  it("gives the search to another worker when the searcher leaves", async () => {
    const { clock, slept } = recordingClock();
    const search = new LeaderSearch(clock, () => 0);
    const [first, second] = [{}, {}];
    await search.beforeRetry(first, 2);
    search.leave(second);
    search.leave(first);
    await search.beforeRetry(second, 2);
    assert.deepEqual(slept, [5, 5]);
  });
});
