import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { celRule, matching, type Rule, validationsKey, withRules } from "./rule.ts";

const ordered: Rule<{ low: number; high: number }> = {
  field: ["low"],
  message: "low must be less than high",
  cel: "self.low < self.high",
  holds: ({ low, high }) => low < high,
};

describe("withRules", () => {
  const range = withRules(
    z.object({ low: z.int(), high: z.int() }).describe("a range"),
    [ordered],
    [{ message: "high cannot change", cel: "self.high == oldSelf.high", field: ["high"] }],
  );

  it("refuses in TypeScript what breaks the rule, at the field it is about", () => {
    const issues = range.safeParse({ low: 2, high: 1 }).error?.issues ?? [];
    assert.deepEqual(
      issues.map(({ path, message }) => ({ path, message })),
      [{ path: ["low"], message: ordered.message }],
    );
    assert.ok(range.safeParse({ low: 1, high: 2 }).success);
  });

  it("carries the rules, then the transitions, as metadata for the CRD", () => {
    assert.deepEqual(range.meta()?.[validationsKey], [
      { rule: "self.low < self.high", message: "low must be less than high", fieldPath: ".low" },
      { rule: "self.high == oldSelf.high", message: "high cannot change", fieldPath: ".high" },
    ]);
  });

  it("keeps the description", () => assert.equal(range.meta()?.description, "a range"));
});

describe("matching", () => {
  const path = matching(/^\/[a-z]+\.txt$/, "must be a text file at the root");

  it("judges like its pattern", () => {
    assert.ok(path.holds("/a.txt"));
    assert.equal(path.holds("/a-txt"), false);
  });

  it("quotes the pattern for CEL: backslashes doubled, slashes plain", () => {
    assert.equal(celRule(path).rule, String.raw`self.matches("^/[a-z]+\\.txt$")`);
  });
});
