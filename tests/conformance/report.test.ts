import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { reportOf, table } from "./report.ts";
import type { RuleResult } from "./runRules.ts";

const result = (changes: Partial<RuleResult>): RuleResult => ({
  id: "rule",
  title: "It must hold",
  prevents: "a loss",
  verdict: "passed",
  seen: "what must be",
  seconds: 1,
  ...changes,
});

describe("the report", () => {
  const report = reportOf("an engine", [
    result({ id: "kept" }),
    result({ id: "broken", verdict: "failed", seen: "200", mustBe: "409" }),
    result({ id: "absent", verdict: "not applicable", seen: "no snapshots" }),
  ]);

  it("counts every rule as what it is: not applicable is no pass", () => {
    assert.deepEqual([report.passed, report.failed, report.notApplicable], [1, 1, 1]);
  });

  it("shows what was seen, and of a broken rule what must be and which loss it prevents", () => {
    assert.equal(
      table(report),
      [
        "rule    verdict         seen",
        "kept    passed          what must be",
        "broken  failed          200",
        "        must be         409",
        "        the rule        It must hold",
        "        it prevents     a loss",
        "absent  not applicable  no snapshots",
        "",
        "an engine: 1 passed, 1 failed, 1 not applicable",
        "",
      ].join("\n"),
    );
  });

  it("says nothing of what is not applicable when everything is", () => {
    assert.match(table(reportOf("an engine", [result({})])), /an engine: 1 passed, 0 failed\n$/);
  });
});
