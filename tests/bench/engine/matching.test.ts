import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { contenderNames } from "./contenders.ts";
import { linesOf } from "./main.ts";
import { measureMatching } from "./matching.ts";
import { mixedWorkload } from "./workload.ts";

describe("the engine's bench", () => {
  for (const name of contenderNames) {
    it(`gets figures out of ${name}`, () => {
      const figures = measureMatching(name, { operations: 2_000, warmUp: 500, swept: 100 });
      for (const [what, value] of Object.entries(figures)) assert.ok(value > 0, `${what}: ${value}`);
    });
  }

  it("asks both for the same", () => {
    assert.deepEqual(mixedWorkload(1_000, 7), mixedWorkload(1_000, 7));
    const kinds = new Set(mixedWorkload(1_000, 7).map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), ["cancel", "limit", "market"]);
  });

  it("prints each figure on a line", () => {
    assert.equal(linesOf({ a: 1, b: { c: 2 } }).replaceAll(/ +/g, " "), "a 1\nb.c 2\n");
  });
});
