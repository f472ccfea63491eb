import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Pacer } from "./pacer.ts";

function manualClock() {
  const clock = { time: 0, slept: [] as number[] };
  return {
    ...clock,
    now: () => clock.time,
    advance: (ms: number) => (clock.time += ms),
    sleep: (ms: number) => {
      clock.slept.push(ms);
      return Promise.resolve();
    },
  };
}

const never = new AbortController().signal;

describe("Pacer", () => {
  it("spreads turns evenly over all who ask", async () => {
    const clock = manualClock();
    const pacer = new Pacer(100, clock);
    for (let n = 0; n < 4; n++) await pacer.turn(never);
    assert.deepEqual(clock.slept, [10, 20, 30]);
  });

  it("does not make up for a pause with a burst", async () => {
    const clock = manualClock();
    const pacer = new Pacer(100, clock);
    await pacer.turn(never);
    clock.advance(5000);
    await pacer.turn(never);
    await pacer.turn(never);
    assert.deepEqual(clock.slept, [10]);
  });

  it("never waits at rate 0", async () => {
    const clock = manualClock();
    const pacer = new Pacer(0, clock);
    for (let n = 0; n < 100; n++) await pacer.turn(never);
    assert.deepEqual(clock.slept, []);
  });
});
