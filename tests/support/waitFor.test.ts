import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Clock } from "../orders/clock.ts";
import { waitFor } from "./waitFor.ts";

function steppingClock(): Clock {
  let time = 0;
  return {
    now: () => time,
    sleep: (ms) => {
      time += ms;
      return Promise.resolve();
    },
  };
}

describe("waitFor", () => {
  it("answers what it was waiting for", async () => {
    let looks = 0;
    const wait = {
      what: "three",
      deadlineMs: 1000,
      look: () => Promise.resolve(++looks),
      until: (n: number) => n === 3,
    };
    assert.equal(await waitFor(wait, steppingClock()), 3);
  });

  it("looks at least once, also with no time at all", async () => {
    const wait = { what: "it", deadlineMs: 0, look: () => Promise.resolve("there"), until: () => true };
    assert.equal(await waitFor(wait, steppingClock()), "there");
  });

  it("says what it saw last", async () => {
    const wait = {
      what: "the engine to be Ready",
      deadlineMs: 2000,
      look: () => Promise.resolve({ ready: 2, of: 3, noise: "x" }),
      until: () => false,
      describe: ({ ready, of }: { ready: number; of: number }) => `${ready}/${of}`,
    };
    const message = 'waiting for the engine to be Ready: not within 2 s; last seen: "2/3"';
    await assert.rejects(waitFor(wait, steppingClock()), { message });
  });

  it("goes on after an error and tells the last one", async () => {
    let looks = 0;
    const flaky = {
      what: "recovery",
      deadlineMs: 1000,
      look: () => (++looks < 3 ? Promise.reject(new Error("404")) : Promise.resolve(looks)),
      until: () => true,
    };
    assert.equal(await waitFor(flaky, steppingClock()), 3);

    const broken = { ...flaky, look: () => Promise.reject(new Error("connection refused")) };
    await assert.rejects(waitFor(broken, steppingClock()), /last seen: connection refused/);
  });
});
