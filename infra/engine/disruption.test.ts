import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sampleEngine } from "../testing/sampleEngine.ts";
import { disruptionBudget, evictableReplicas } from "./disruption.ts";
import { podSelector } from "./metadata.ts";

const cases = [
  // replicas, k, durability, evictable
  [3, 1, "Strict", 1],
  [3, 2, "Strict", 0],
  [2, 1, "Strict", 0],
  [5, 2, "Strict", 1],
  [7, 1, "Strict", 1],
  [2, 1, "Available", 1],
  [1, 0, "Available", 0],
] as const;

describe("eviction of replicas", () => {
  for (const [replicas, syncStandbys, durability, evictable] of cases) {
    it(`${replicas} replicas, ${syncStandbys} of them in each acknowledgement, ${durability}: ${evictable} at a time`, () => {
      const engine = sampleEngine({ replicas, failoverStrategy: { durability, syncStandbys } });
      assert.equal(evictableReplicas(engine), evictable);
    });
  }

  it("counts replicas that are not ready as lost", () => {
    assert.deepEqual(disruptionBudget(sampleEngine()).spec, {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: "IfHealthyBudget",
      selector: { matchLabels: podSelector(sampleEngine()) },
    });
  });
});
