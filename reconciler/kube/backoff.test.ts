import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createVirtualClock } from "../../tests/fakeApiServer/virtualClock.ts";
import { createBackoff } from "./backoff.ts";

const options = { firstMs: 800, mostMs: 30_000, resetMs: 120_000 };

describe("backoff", () => {
  it("doubles from the first step to the longest", () => {
    const backoff = createBackoff({ ...options, clock: createVirtualClock(), random: () => 0 });
    const waits = Array.from({ length: 8 }, () => backoff.nextMs());
    assert.deepEqual(waits, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  });

  it("stretches each wait by up to its own length", () => {
    const backoff = createBackoff({ ...options, clock: createVirtualClock(), random: () => 0.75 });
    assert.deepEqual([backoff.nextMs(), backoff.nextMs()], [1_400, 2_800]);
  });

  it("starts over after two minutes without a failure, and not before", async () => {
    const clock = createVirtualClock();
    const backoff = createBackoff({ ...options, clock, random: () => 0 });
    backoff.nextMs();
    await clock.advance(120_000);
    assert.equal(backoff.nextMs(), 1_600);
    await clock.advance(120_001);
    assert.equal(backoff.nextMs(), 800);
  });
});
