import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { CommitRule } from "../observe/index.ts";
import { healthy, leaseOf, podName, specOf } from "../testing/engineWorld.ts";
import { combinedRule, promisesNeeded, ruleInForce, sameRule, wantedRule } from "./commitRule.ts";

const ruleOf = (k: number, ...ordinals: readonly number[]): CommitRule => ({ members: ordinals.map(podName), k });

/** Rules over some of seven replicas, as the API admits them: k is less than the number of members. */
const anyRule: fc.Arbitrary<CommitRule> = fc
  .uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7 })
  .chain((ordinals) => fc.nat({ max: ordinals.length - 1 }).map((k) => ruleOf(k, ...ordinals.sort())));

describe("the promises that a rule needs", () => {
  const table: readonly [n: number, k: number, needed: number][] = [
    [1, 0, 1],
    [2, 1, 1],
    [3, 1, 2],
    [3, 2, 1],
    [5, 2, 3],
    [3, 0, 3],
  ];
  for (const [n, k, needed] of table)
    it(`are ${needed} of ${n} with k=${k}`, () =>
      assert.equal(promisesNeeded(ruleOf(k, ...Array.from({ length: n }, (_, ordinal) => ordinal))), needed));
});

describe("two rules", () => {
  it("are the same whatever order their members are in", () => {
    assert.ok(sameRule(ruleOf(1, 0, 1, 2), ruleOf(1, 2, 0, 1)));
  });

  const different: readonly [string, CommitRule][] = [
    ["k", ruleOf(2, 0, 1, 2)],
    ["a member more", ruleOf(1, 0, 1, 2, 3)],
    ["a member less", ruleOf(1, 0, 1)],
    ["another member", ruleOf(1, 0, 1, 3)],
  ];
  for (const [what, other] of different)
    it(`differ by ${what}`, () => {
      assert.ok(!sameRule(ruleOf(1, 0, 1, 2), other));
      assert.ok(!sameRule(other, ruleOf(1, 0, 1, 2)));
    });

  const combined: readonly [string, CommitRule, CommitRule, CommitRule][] = [
    ["k grows", ruleOf(1, 0, 1, 2), ruleOf(2, 0, 1, 2), ruleOf(1, 0, 1, 2)],
    ["k shrinks", ruleOf(2, 0, 1, 2), ruleOf(1, 0, 1, 2), ruleOf(1, 0, 1, 2)],
    ["members join", ruleOf(1, 0, 1), ruleOf(1, 0, 1, 2), ruleOf(1, 0, 1, 2)],
    ["members leave", ruleOf(2, 0, 1, 2, 3), ruleOf(1, 0, 1), ruleOf(1, 0, 1, 2, 3)],
    ["members are exchanged", ruleOf(1, 0, 2), ruleOf(1, 0, 1), ruleOf(1, 0, 1, 2)],
  ];
  for (const [when, a, b, expected] of combined)
    it(`combine to every member and the smaller k when ${when}`, () => {
      assert.deepEqual(combinedRule(a, b), expected);
      assert.deepEqual(combinedRule(b, a), expected);
    });
});

describe("the combination of two rules", () => {
  it("finds every order that either rule acknowledged, whoever answers", () => {
    const scene = fc.tuple(anyRule, anyRule, fc.boolean()).chain(([a, b, byFirst]) => {
      const ran = byFirst ? a : b;
      const between = combinedRule(a, b);
      const holders = fc.shuffledSubarray([...ran.members], { minLength: ran.k + 1, maxLength: ran.k + 1 });
      const needed = promisesNeeded(between);
      const answering = fc.shuffledSubarray([...between.members], { minLength: needed, maxLength: needed });
      return fc.record({ holders, answering });
    });
    fc.assert(fc.property(scene, ({ holders, answering }) => holders.some((holder) => answering.includes(holder))));
  });

  it("is no other rule when combined again, or with one of the two", () => {
    fc.assert(
      fc.property(anyRule, anyRule, (a, b) => {
        const between = combinedRule(a, b);
        assert.ok(sameRule(combinedRule(between, a), between));
        assert.ok(sameRule(combinedRule(a, a), a));
      }),
    );
  });
});

describe("the rule of an engine", () => {
  it("is wished for by the spec: the places that are to stay, whether a pod fills them or not", () => {
    const spec = specOf({ replicas: 2, failoverStrategy: { syncStandbys: 1 } });
    assert.deepEqual(wantedRule({ ...healthy(4), spec }), ruleOf(1, 0, 1));
    const empty = healthy(2).replicas.map((replica) => ({ ...replica, pod: undefined, stream: undefined }));
    assert.deepEqual(wantedRule({ ...healthy(2), replicas: empty }), ruleOf(1, 0, 1));
  });

  it("names its members in one order, in whichever the replicas are seen", () => {
    const spec = specOf({ replicas: 7, failoverStrategy: { syncStandbys: 1 } });
    const { replicas } = healthy(7);
    const forwards = wantedRule({ ...healthy(), spec, replicas });
    assert.deepEqual(wantedRule({ ...healthy(), spec, replicas: replicas.toReversed() }), forwards);
  });

  it("is what the Lease says, also when the spec has changed", () => {
    const rule = ruleOf(2, 0, 1, 2);
    assert.deepEqual(ruleInForce(healthy(3, { lease: leaseOf({ rule }) })), rule);
  });

  it("is the one wished for where no Lease of ours says another", () => {
    assert.deepEqual(ruleInForce(healthy(3, { lease: undefined })), ruleOf(1, 0, 1, 2));
    assert.deepEqual(ruleInForce(healthy(3, { lease: leaseOf() })), ruleOf(1, 0, 1, 2));
  });
});
