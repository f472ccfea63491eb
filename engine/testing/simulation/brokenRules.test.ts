import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { type BrokenRule, type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";

/** Runs until one notices: which one that is may change with anything in the engine, that one does may not. */
const runs = 60;

const brokenRules: readonly [BrokenRule, what: string, Omit<SimulationOptions, "seed">][] = [
  [
    "ackBeforeSync",
    "replicas acknowledge before they have synced",
    { replicas: 3, k: 1, faults: ["powerFailure", "blackout"] },
  ],
  ["fenceNotDurable", "promises are not durable", { replicas: 3, k: 1, faults: ["powerFailure"] }],
  [
    "ackBeforeK",
    "the primary acknowledges before k standbys have",
    { replicas: 3, k: 1, faults: ["exile", "powerFailure"] },
  ],
  [
    "tooFewFences",
    "an election asks too few replicas",
    { replicas: 5, k: 1, milliseconds: 1_500, faults: ["exile", "partition", "kill"] },
  ],
  ["tailNotCut", "a standby does not cut its tail", { replicas: 3, k: 1, faults: ["exile", "kill", "powerFailure"] }],
];

const wrongsOf = ({ violations, surprises }: SimulationResult): readonly unknown[] => [...violations, ...surprises];

describe("the simulation", () => {
  for (const [broken, what, options] of brokenRules) {
    it(`notices when ${what}`, async () => {
      for (let seed = 1; seed <= runs; seed += 1) {
        const wrong = await simulate({ ...options, seed, broken });
        if (wrongsOf(wrong).length === 0) continue;
        assert.deepEqual(wrongsOf(await simulate({ ...options, seed })), [], "the rule itself, kept, is enough");
        return;
      }
      assert.fail(`${runs} runs did not notice`);
    });
  }
});
