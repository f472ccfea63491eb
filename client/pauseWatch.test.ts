import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { type Pause, PauseWatch } from "./pauseWatch.ts";

const watch = () => {
  const pauses: Pause[] = [];
  return { pauses, watch: new PauseWatch(250, (pause) => pauses.push(pause)) };
};

describe("a pause", () => {
  it("is a time in which something waited and nothing was acknowledged", () => {
    const { watch: client, pauses } = watch();
    client.asked(0);
    client.acknowledged(10, 1, 3);
    client.acknowledged(1_010, 2, 2);
    client.acknowledged(1_020, 2, 0);
    assert.deepEqual(pauses, [{ from: 10, durationMs: 1_000, epochBefore: 1, epochAfter: 2 }]);
    assert.deepEqual([client.count, client.longestMs, client.totalMs], [1, 1_000, 1_000]);
  });

  it("is not a time in which nothing was asked", () => {
    const { watch: client, pauses } = watch();
    client.asked(0);
    client.acknowledged(10, 1, 0);
    client.asked(5_000);
    client.acknowledged(5_010, 1, 0);
    client.asked(6_000);
    client.idle();
    client.asked(9_000);
    client.acknowledged(9_001, 1, 0);
    assert.deepEqual(pauses, []);
  });

  it("begins with the first of those that wait", () => {
    const { watch: client, pauses } = watch();
    client.asked(100);
    client.asked(300);
    client.acknowledged(400, 1, 1);
    assert.equal(pauses[0]?.durationMs, 300);
  });
});
