import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { Rule } from "./rule.ts";
import { type RuleResult, runRules, type TestBed } from "./runRules.ts";
import { NotApplicable, Violation } from "./violation.ts";

interface EmptyLab {
  readonly name: string;
  close(): Promise<void>;
}

/** A bed whose laboratories are empty, of an engine with these capabilities. */
const bedOf = (capabilities: readonly string[], closed: string[] = []): TestBed<EmptyLab> => ({
  subject: "a fake",
  capabilities: () => Promise.resolve(new Set(capabilities)),
  openLab: (name) => ({
    name,
    close() {
      closed.push(name);
      return Promise.resolve();
    },
  }),
  close: () => Promise.resolve(),
});

type FakeRule = Rule<EmptyLab>;

const rule = (id: string, check: FakeRule["check"], needs?: FakeRule["needs"]): FakeRule => ({
  id,
  title: id,
  prevents: "nothing",
  check,
  ...(needs === undefined ? {} : { needs }),
});

const look = (rules: readonly FakeRule[], capabilities: readonly string[] = [], closed: string[] = []) =>
  runRules(bedOf(capabilities, closed), rules, { jobs: 2, ruleDeadlineMs: 200, onResult: () => undefined });

const verdicts = (results: readonly RuleResult[]): string[] => results.map(({ id, verdict }) => `${id}: ${verdict}`);

describe("looking at rules", () => {
  it("answers them in their order, whichever ends first", async () => {
    const slow = rule("slow", async () => sleep(50, "seen"));
    const quick = rule("quick", () => Promise.resolve("seen"));
    assert.deepEqual(verdicts(await look([slow, quick])), ["slow: passed", "quick: passed"]);
  });

  it("tells of a broken rule what was seen and what must be", async () => {
    const [broken] = await look([rule("broken", () => Promise.reject(new Violation("200", "409")))]);
    assert.deepEqual([broken?.verdict, broken?.seen, broken?.mustBe], ["failed", "200", "409"]);
  });

  it("never passes a rule that needs what the engine does not claim", async () => {
    const grant = rule("grant", () => Promise.resolve("seen"), ["grant"]);
    assert.deepEqual(verdicts(await look([grant])), ["grant: not applicable"]);
    assert.deepEqual(verdicts(await look([grant], ["grant"])), ["grant: passed"]);
  });

  it("keeps apart what could not be tried", async () => {
    const [result] = await look([rule("tail", () => Promise.reject(new NotApplicable("no tail")))]);
    assert.deepEqual([result?.verdict, result?.seen], ["not applicable", "no tail"]);
  });

  it("fails a rule that the engine makes impossible to look at", async () => {
    const [result] = await look([rule("odd", () => Promise.reject(new TypeError("not a list")))]);
    assert.equal(result?.verdict, "failed");
    assert.match(result.seen, /the kit could not go on: TypeError: not a list/);
  });

  it("fails a rule that does not come to an end", async () => {
    const [result] = await look([rule("endless", () => new Promise(() => undefined))]);
    assert.deepEqual([result?.verdict, result?.seen], ["failed", "not finished in 0.2 s"]);
  });

  it("closes every laboratory, whatever became of its rule", async () => {
    const closed: string[] = [];
    const kept = rule("kept", () => Promise.resolve("seen"));
    const broken = rule("broken", () => Promise.reject(new Violation("200", "409")));
    await look([kept, broken], [], closed);
    assert.deepEqual(closed.toSorted(), ["broken", "kept"]);
  });
});
