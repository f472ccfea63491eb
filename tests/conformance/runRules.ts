import { setTimeout as sleep } from "node:timers/promises";

import type { EngineHost } from "./hosts/engineHost.ts";
import { Lab } from "./lab.ts";
import type { Rule } from "./rule.ts";
import { NotApplicable, Violation } from "./violation.ts";

export type Verdict = "passed" | "failed" | "not applicable";

/** What became of one rule. */
export interface RuleResult {
  readonly id: string;
  readonly title: string;
  readonly prevents: string;
  readonly verdict: Verdict;
  readonly seen: string;
  /** Of a rule that failed. */
  readonly mustBe?: string;
  readonly seconds: number;
}

export interface RunOptions {
  /** Rules looked at side by side. */
  readonly jobs: number;
  readonly ruleDeadlineMs: number;
  readonly onResult: (result: RuleResult) => void;
}

/** Looks at every rule, each with engines of its own, and answers the results in the order of the rules. */
export const runRules = async (
  host: EngineHost,
  rules: readonly Rule[],
  options: RunOptions,
): Promise<readonly RuleResult[]> => {
  const capabilities = await capabilitiesOf(host);
  const results = new Map<Rule, RuleResult>();
  const queue = [...rules];
  const work = async (): Promise<void> => {
    for (let rule = queue.shift(); rule !== undefined; rule = queue.shift()) {
      const result = await lookAt(host, rule, capabilities, options.ruleDeadlineMs);
      results.set(rule, result);
      options.onResult(result);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, work));
  return rules.flatMap((rule) => results.get(rule) ?? []);
};

/** Throws a {@link Violation} when the engine does not even start. */
const capabilitiesOf = async (host: EngineHost): Promise<ReadonlySet<string>> => {
  const lab = new Lab(host, "start");
  try {
    const engine = await lab.start("te-0");
    const { capabilities } = await engine.status();
    return new Set(capabilities);
  } finally {
    await lab.close();
  }
};

/** Looks at one rule, with engines of its own. */
export const lookAt = async (
  host: EngineHost,
  rule: Rule,
  capabilities: ReadonlySet<string>,
  deadlineMs: number,
): Promise<RuleResult> => {
  const { id, title, prevents } = rule;
  const missing = (rule.needs ?? []).filter((capability) => !capabilities.has(capability));
  if (missing.length > 0) {
    const seen = `the engine does not claim the capability ${missing.join(", ")}`;
    return { id, title, prevents, verdict: "not applicable", seen, seconds: 0 };
  }
  const start = performance.now();
  const outcome = await inLab(new Lab(host, id), rule, deadlineMs);
  return { id, title, prevents, ...outcome, seconds: (performance.now() - start) / 1000 };
};

const inLab = async (lab: Lab, rule: Rule, deadlineMs: number): Promise<Outcome> => {
  const overdue = new AbortController();
  try {
    const seen = await Promise.race([rule.check(lab), expire(deadlineMs, overdue.signal)]);
    return { verdict: "passed", seen };
  } catch (error) {
    return outcomeOf(error);
  } finally {
    overdue.abort();
    await lab.close();
  }
};

type Outcome = Pick<RuleResult, "verdict" | "seen" | "mustBe">;

const outcomeOf = (error: unknown): Outcome => {
  if (error instanceof NotApplicable) return { verdict: "not applicable", seen: error.message };
  if (error instanceof Violation) return { verdict: "failed", seen: error.seen, mustBe: error.mustBe };
  // An engine that answers nonsense may trip the kit: that is no pass either.
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { verdict: "failed", seen: `the kit could not go on: ${told}`, mustBe: "an engine that can be looked at" };
};

const expire = async (deadlineMs: number, ended: AbortSignal): Promise<never> => {
  await sleep(deadlineMs, undefined, { signal: ended });
  throw new Violation(`not finished in ${deadlineMs / 1000} s`, "an engine that answers");
};
