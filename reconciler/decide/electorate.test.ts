import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { FenceAnswer, Position } from "../../api/contract/v1.ts";
import { combinedRule, promisesNeeded, sameRule } from "./commitRule.ts";
import { countPromises } from "./electorate.ts";

const answerOf = (instance: string, overrides: Partial<FenceAnswer> = {}): FenceAnswer => ({
  instance,
  promised: 4,
  durable: { epoch: 3, seq: 100 },
  blank: false,
  wasPrimary: false,
  primaryEpoch: 0,
  ...overrides,
});

const three = { members: ["a", "b", "c"], k: 1 };
const established = { rule: three, first: false, decisiveEpoch: 3 };
const first = { rule: three, first: true, decisiveEpoch: 0 };
const blank = { blank: true, durable: { epoch: 0, seq: 0 } };

describe("counting promises", () => {
  const table: readonly [string, Parameters<typeof countPromises>, string][] = [
    ["n - k members with history", [established, [answerOf("a"), answerOf("b")]], "enough"],
    ["fewer than n - k", [established, [answerOf("b")]], "NotEnoughPromises"],
    ["the last leader alone", [established, [answerOf("a", { primaryEpoch: 3 })]], "enough"],
    ["a leader of an earlier epoch alone", [established, [answerOf("a", { primaryEpoch: 2 })]], "NotEnoughPromises"],
    [
      "the last leader alone, while a later one is possible",
      [{ ...established, decisiveEpoch: 0 }, [answerOf("a", { primaryEpoch: 3 })]],
      "NotEnoughPromises",
    ],
    ["an empty member beside a full one", [established, [answerOf("a"), answerOf("b", blank)]], "NotEnoughPromises"],
    ["one that is no member", [established, [answerOf("a"), answerOf("z")]], "NotEnoughPromises"],
    ["nobody", [established, []], "NotEnoughPromises"],
    ["at the first election, all empty", [first, ["a", "b", "c"].map((name) => answerOf(name, blank))], "enough"],
    [
      "at the first election, one missing",
      [first, ["a", "b"].map((name) => answerOf(name, blank))],
      "NotEnoughPromises",
    ],
    ["at the first election, one with history", [first, [answerOf("a"), answerOf("b", blank)]], "ReplicaNotBlank"],
  ];
  for (const [what, [electorate, answers], expected] of table)
    it(`${what}: ${expected}`, () => {
      const count = countPromises(electorate, answers);
      assert.equal(count.kind === "enough" ? "enough" : count.reason, expected);
    });
});

/** Members, k, and which of the members committed and promised. */
const worlds = fc
  .integer({ min: 1, max: 7 })
  .chain((n) => fc.record({ n: fc.constant(n), k: fc.integer({ min: 0, max: n - 1 }) }))
  .chain(({ n, k }) => {
    const members = Array.from({ length: n }, (_, index) => `te-${index}`);
    return fc.record({
      rule: fc.constant({ members, k }),
      primary: fc.constantFrom(...members),
      copies: fc.shuffledSubarray(members),
      promising: fc.shuffledSubarray(members),
    });
  });

describe("enough promises", () => {
  it("always find the last acknowledged order, whichever replicas hold it and whichever promise", () => {
    fc.assert(
      fc.property(worlds, ({ rule, primary, copies, promising }) => {
        const holders = [primary, ...copies.filter((copy) => copy !== primary).slice(0, rule.k)];
        fc.pre(holders.length === rule.k + 1);
        const acked: Position = { epoch: 3, seq: 200 };
        const answers = promising.map((name) =>
          answerOf(name, {
            ...(holders.includes(name) && { durable: acked }),
            ...(name === primary && { primaryEpoch: 3 }),
          }),
        );
        const count = countPromises({ rule, first: false, decisiveEpoch: 3 }, answers);
        if (count.kind === "enough") assert.ok(answers.some(({ durable }) => durable.seq === acked.seq));
      }),
    );
  });

  it("always leave the old primary too few standbys to acknowledge with", () => {
    fc.assert(
      fc.property(worlds, ({ rule, primary, promising }) => {
        const count = countPromises(
          { rule, first: false, decisiveEpoch: 3 },
          promising.map((name) => answerOf(name)),
        );
        fc.pre(count.kind === "enough" && !promising.includes(primary));
        const unfenced = rule.members.filter((member) => member !== primary && !promising.includes(member));
        assert.ok(unfenced.length < rule.k, `${unfenced.length} could still confirm`);
      }),
    );
  });

  it("counted by a combined rule are enough for both rules", () => {
    const rules = fc.record({
      members: fc.subarray(["a", "b", "c", "d", "e"], { minLength: 2 }),
      k: fc.constantFrom(0, 1),
    });
    fc.assert(
      fc.property(rules, rules, fc.subarray(["a", "b", "c", "d", "e"]), (one, other, promising) => {
        const between = combinedRule(one, other);
        const answers = promising.map((name) => answerOf(name));
        fc.pre(countPromises({ rule: between, first: false, decisiveEpoch: 0 }, answers).kind === "enough");
        for (const rule of [one, other])
          assert.equal(countPromises({ rule, first: false, decisiveEpoch: 0 }, answers).kind, "enough");
      }),
    );
  });
});

describe("commit rules", () => {
  it("are the same whatever the order of their members", () => {
    assert.ok(sameRule(three, { members: ["c", "a", "b"], k: 1 }));
    assert.ok(!sameRule(three, { members: ["a", "b", "d"], k: 1 }));
    assert.ok(!sameRule(three, { members: ["a", "b", "c"], k: 2 }));
    assert.equal(promisesNeeded(three), 2);
  });
});
