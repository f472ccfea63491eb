import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { simulate } from "./simulate.ts";

/** What a few seconds of a busy machine allow; tests/soak runs thousands. */
const runs = 20;

describe("replicas under crashes, power failures, partitions, standstills and bad disks", () => {
  it("keep every promise, and come to agree once all is well", async () => {
    const seen = { answers: 0, elections: 0, exits: 0 };
    for (let seed = 1; seed <= runs; seed += 1) {
      const { description, violations, surprises, history, elections, exits } = await simulate({ seed });
      assert.deepEqual({ violations, surprises }, { violations: [], surprises: [] }, description);
      seen.answers += history.answers.length;
      seen.elections += elections;
      seen.exits += exits.length;
    }
    assert.ok(seen.answers > runs * 10, `${seen.answers} answers`);
    assert.ok(seen.elections > runs, `${seen.elections} elections`);
    assert.ok(seen.exits > 0, "processes ended over bad disks");
  });

  it("do the same again for the same seed", async () => {
    const [first, second] = [await simulate({ seed: 7 }), await simulate({ seed: 7 })];
    assert.deepEqual(first.history, second.history);
  });
});
