import type { RuleResult, Verdict } from "./runRules.ts";

export interface Report {
  readonly subject: string;
  readonly passed: number;
  readonly failed: number;
  readonly notApplicable: number;
  readonly rules: readonly RuleResult[];
}

export const reportOf = (subject: string, rules: readonly RuleResult[]): Report => {
  const count = (verdict: Verdict): number => rules.filter((rule) => rule.verdict === verdict).length;
  return {
    subject,
    passed: count("passed"),
    failed: count("failed"),
    notApplicable: count("not applicable"),
    rules,
  };
};

const marks: Readonly<Record<Verdict, string>> = { passed: "✔", failed: "✖", "not applicable": "-" };

/** One line while the rules are looked at. */
export const progressLine = ({ id, verdict, seconds }: RuleResult): string =>
  `${marks[verdict]} ${id} (${seconds.toFixed(1)} s)`;

/** The table: rule, verdict, and what was seen; of a failed rule also what must be, and which loss it prevents. */
export const table = ({ subject, passed, failed, notApplicable, rules }: Report): string => {
  const width = Math.max(4, ...rules.map(({ id }) => id.length));
  const lines = [`${"rule".padEnd(width)}  verdict         seen`];
  const indent = " ".repeat(width + 2);
  for (const rule of rules) {
    lines.push(`${rule.id.padEnd(width)}  ${rule.verdict.padEnd(14)}  ${rule.seen}`);
    if (rule.mustBe === undefined) continue;
    lines.push(`${indent}must be         ${rule.mustBe}`);
    lines.push(`${indent}the rule        ${rule.title}`);
    lines.push(`${indent}it prevents     ${rule.prevents}`);
  }
  const applicable = notApplicable === 0 ? "" : `, ${notApplicable} not applicable`;
  return `${lines.join("\n")}\n\n${subject}: ${passed} passed, ${failed} failed${applicable}\n`;
};
