import { setTimeout as sleep } from "node:timers/promises";

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

/** What one rule experiments with. */
export interface Closable {
  /** Ends what runs. */
  close(): Promise<void>;
}

/** The engine under test, and laboratories to look at it in. */
export interface TestBed<L extends Closable> {
  /** What the engine is, for the report. */
  readonly subject: string;
  /** What it claims to be able to do. Throws a {@link Violation} when it does not even start. */
  capabilities(): Promise<ReadonlySet<string>>;
  /** `name` is unique within the bed. */
  openLab(name: string): L;
  /** Ends every process and removes everything that was made. */
  close(): Promise<void>;
}

/** Looks at every rule, each in a laboratory of its own, and answers the results in the order of the rules. */
export const runRules = async <L extends Closable>(
  bed: TestBed<L>,
  rules: readonly Rule<L>[],
  options: RunOptions,
): Promise<readonly RuleResult[]> => {
  const capabilities = await bed.capabilities();
  const results = new Map<Rule<L>, RuleResult>();
  const queue = [...rules];
  const work = async (): Promise<void> => {
    for (let rule = queue.shift(); rule !== undefined; rule = queue.shift()) {
      const result = await lookAt(bed, rule, capabilities, options.ruleDeadlineMs);
      results.set(rule, result);
      options.onResult(result);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, work));
  return rules.flatMap((rule) => results.get(rule) ?? []);
};

/** Looks at one rule, in a laboratory of its own. */
export const lookAt = async <L extends Closable>(
  bed: TestBed<L>,
  rule: Rule<L>,
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
  const outcome = await inLab(bed.openLab(id), rule, deadlineMs);
  return { id, title, prevents, ...outcome, seconds: (performance.now() - start) / 1000 };
};

const inLab = async <L extends Closable>(lab: L, rule: Rule<L>, deadlineMs: number): Promise<Outcome> => {
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
