import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compareStates } from "./stateHashes.ts";

const statusOf = (states: Readonly<Record<string, { seq: number; hash: string }>>) => (instance: string) => {
  const lastHash = states[instance];
  return lastHash === undefined
    ? Promise.reject(new Error(`${instance} does not answer`))
    : Promise.resolve({ lastHash });
};

describe("compareStates", () => {
  it("sees that replicas agree", async () => {
    const states = { a: { seq: 7, hash: "x" }, b: { seq: 7, hash: "x" } };
    const expected = { seq: 7, hashes: { a: "x", b: "x" }, agree: true };
    assert.deepEqual(await compareStates(["a", "b"], statusOf(states), 1000), expected);
  });

  it("sees that replicas diverged at the same record", async () => {
    const states = { a: { seq: 7, hash: "x" }, b: { seq: 7, hash: "y" } };
    assert.equal((await compareStates(["a", "b"], statusOf(states), 1000)).agree, false);
  });

  it("waits for a standby that is still applying records", async () => {
    let looks = 0;
    const status = (instance: string) =>
      Promise.resolve({ lastHash: { seq: instance === "a" ? 7 : Math.min(7, 4 + looks++), hash: "x" } });
    assert.equal((await compareStates(["a", "b"], status, 10_000)).agree, true);
  });

  it("does not compare different records, and says where each replica is", async () => {
    const states = { a: { seq: 7, hash: "x" }, b: { seq: 6, hash: "x" } };
    await assert.rejects(compareStates(["a", "b"], statusOf(states), 0), /"instance":"b","seq":6/);
  });

  it("names a replica that does not answer", async () => {
    await assert.rejects(compareStates(["a"], statusOf({}), 0), /a does not answer/);
  });
});
