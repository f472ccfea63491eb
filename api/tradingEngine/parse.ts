/**
 * Parsing of what people and the API server send, with messages for people.
 */
import type { z } from "zod";
import { type TradingEngineSpec, tradingEngineSpec } from "./spec.ts";
import { type TradingEngine, tradingEngine } from "./tradingEngine.ts";

/** One thing that is wrong, and where. */
export interface FieldProblem {
  /** Such as spec.storage.size, or replicas[0].name. */
  readonly path: string;
  readonly message: string;
}

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** The problems as text, one a line. */
export const explainProblems = (problems: readonly FieldProblem[]): string =>
  problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("\n");

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");

const describeIssue = (issue: z.core.$ZodIssue): string => {
  if (issue.code === "unrecognized_keys") {
    return `unknown field ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}: remove or correct it`;
  }
  // zod reports an absent field as one of the wrong type.
  const isAbsent = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  return isAbsent ? `is required, and must be of type ${issue.expected}` : issue.message;
};

const problemsOf = (error: z.ZodError): readonly FieldProblem[] =>
  error.issues.map((issue) => ({ path: pathText(issue.path), message: describeIssue(issue) }));

/**
 * A spec as a person wrote it -> the spec with all defaults. Unknown fields are refused: a
 * misspelt field would otherwise silently keep its default.
 */
export const parseSpec = (input: unknown): Result<TradingEngineSpec> => {
  const parsed = tradingEngineSpec.safeParse(input);
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, problems: problemsOf(parsed.error) };
};

/** Takes out the fields that the schema does not know, in place. */
const pruneUnknown = (root: unknown, issues: readonly z.core.$ZodIssue[]): void => {
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const parent = issue.path.reduce<unknown>(
      (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
      root,
    );
    if (typeof parent !== "object" || parent === null) continue;
    for (const key of issue.keys) Reflect.deleteProperty(parent, key);
  }
};

/**
 * A TradingEngine as the API server sent it. Unknown fields are ignored: while an upgrade of
 * enginekeeper is rolled out, an older reconciler meets objects of a newer schema, and must
 * keep them trading.
 */
export const parseTradingEngine = (input: unknown): Result<TradingEngine> => {
  const first = tradingEngine.safeParse(input);
  if (first.success) return { ok: true, value: first.data };
  const known = structuredClone(input);
  pruneUnknown(known, first.error.issues);
  const second = tradingEngine.safeParse(known);
  return second.success ? { ok: true, value: second.data } : { ok: false, problems: problemsOf(second.error) };
};
