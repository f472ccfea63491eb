import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { commitPoint } from "./commitRule.ts";

describe("what is committed", () => {
  const cases = [
    { what: "k of the members hold it", ownDurable: 9, memberDurable: [7, 5], k: 1, expected: 7 },
    { what: "all k must hold it", ownDurable: 9, memberDurable: [7, 5], k: 2, expected: 5 },
    { what: "the primary itself must hold it", ownDurable: 6, memberDurable: [9, 9], k: 1, expected: 6 },
    { what: "nothing without enough members", ownDurable: 9, memberDurable: [7], k: 2, expected: 3 },
    { what: "the primary alone when k is 0", ownDurable: 9, memberDurable: [], k: 0, expected: 9 },
    { what: "never less than before", ownDurable: 9, memberDurable: [], k: 1, expected: 3 },
  ];
  for (const { what, expected, ...input } of cases) {
    it(`${what}: ${expected}`, () => {
      assert.equal(commitPoint({ ...input, epochStart: 4, committed: 3 }), expected);
    });
  }

  it("holds no record of an earlier epoch before the own epoch's first one", () => {
    const input = { ownDurable: 9, memberDurable: [7], k: 1, committed: 3 };
    assert.equal(commitPoint({ ...input, epochStart: 8 }), 3);
    assert.equal(commitPoint({ ...input, epochStart: 7 }), 7);
  });

  it("is on the primary and on k members, for any state", () => {
    const seq = fc.nat(50);
    fc.assert(
      fc.property(seq, fc.array(seq, { maxLength: 6 }), fc.nat(6), (ownDurable, memberDurable, k) => {
        const point = commitPoint({ ownDurable, memberDurable, k, epochStart: 1, committed: 0 });
        assert.ok(point <= ownDurable);
        if (point > 0) assert.ok(memberDurable.filter((durable) => durable >= point).length >= k);
      }),
    );
  });
});
