/**
 * Thousands of simulated clusters, each from its own seed. A failure names the seed: simulate({ seed }) repeats it.
 * SIMULATION_RUNS sets how many, SIMULATION_SEED where they begin.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { simulate } from "../../engine/testing/simulation/simulate.ts";

const runs = Number(process.env["SIMULATION_RUNS"] ?? 5_000);
const firstSeed = Number(process.env["SIMULATION_SEED"] ?? 10_000);
/** Crash points, of each kind, one after the other through the life of the first machine. */
const crashPoints = Number(process.env["SIMULATION_CRASH_POINTS"] ?? 400);

describe("many simulated clusters", () => {
  it(`keep every promise in ${runs} runs`, async (test) => {
    const wrong: string[] = [];
    const seen = { answers: 0, elections: 0, exits: 0 };
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
      const { description, violations, surprises, history, elections, exits } = await simulate({ seed });
      seen.answers += history.answers.length;
      seen.elections += elections;
      seen.exits += exits.length;
      const [first] = [...surprises, ...violations.map(({ invariant, detail }) => `${invariant}: ${detail}`)];
      if (first !== undefined) wrong.push(`${description}: ${first}`);
    }
    test.diagnostic(JSON.stringify(seen));
    assert.deepEqual(wrong, []);
  });

  for (const kind of ["kill", "power"] as const) {
    it(`keep every promise when a machine ends (${kind}) at any of its first ${crashPoints} steps`, async () => {
      const wrong: string[] = [];
      for (let step = 1; step <= crashPoints; step += 1) {
        const options = {
          seed: firstSeed,
          replicas: 3,
          k: 1,
          milliseconds: 150,
          faults: [],
          crashPoint: { step, kind },
        };
        const { violations, surprises } = await simulate(options);
        const [first] = [...surprises, ...violations.map(({ invariant, detail }) => `${invariant}: ${detail}`)];
        if (first !== undefined) wrong.push(`step ${step}: ${first}`);
      }
      assert.deepEqual(wrong, []);
    });
  }
});
