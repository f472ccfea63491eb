import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAtLeast } from "./go.ts";

const cases: readonly [have: string, want: string, enough: boolean][] = [
  ["1.26.8", "1.26.8", true],
  ["1.26.9", "1.26.8", true],
  ["1.27", "1.26.8", true],
  ["2.0", "1.26.8", true],
  ["1.26", "1.26.8", false],
  ["1.19.8", "1.26.8", false],
  ["1.9", "1.26.8", false],
  ["0", "1.26.8", false],
];

describe("isAtLeast", () => {
  for (const [have, want, enough] of cases) {
    it(`${have} is ${enough ? "" : "not "}enough for ${want}`, () => assert.equal(isAtLeast(have, want), enough));
  }
});
