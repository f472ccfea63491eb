import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitReady } from "./ready.ts";

describe("waitReady", () => {
  it("ends as soon as nothing is missing", async () => {
    const answers = ["one", "two", null];
    await waitReady("it", 10_000, () => Promise.resolve(answers.shift() ?? null), 1);
    assert.deepEqual(answers, []);
  });

  it("says at the deadline what was waited for and what was missing last", async () => {
    await assert.rejects(
      waitReady("the node", 20, () => Promise.resolve("kubelet is down"), 1),
      /the node not ready after 0 s: kubelet is down/,
    );
  });

  it("takes a failing probe for something missing", async () => {
    let calls = 0;
    await waitReady(
      "it",
      10_000,
      () => (calls++ === 0 ? Promise.reject(new Error("refused")) : Promise.resolve(null)),
      1,
    );
    assert.equal(calls, 2);
  });
});
