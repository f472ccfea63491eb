/**
 * Rules that say what a value must be, each written once for both judges: the API server
 * (CEL in the CRD) and this process (a predicate in the zod schema). A test runs both
 * over the same cases, so that they cannot drift apart unnoticed.
 */
import type { z } from "zod";

/** Key of the structural schema that holds CEL rules. */
export const validationsKey = "x-kubernetes-validations";

/** A rule about one state of a value. */
export interface Rule<T> {
  /** Says to a person what to do; shown as it is by the API server and by parsers. */
  readonly message: string;
  /** CEL over `self`; may use fields without `has` only where they have defaults or are required. */
  readonly cel: string;
  /** The same judgement in TypeScript, after defaults. */
  readonly holds: (value: T) => boolean;
  /** Field below the value that the message is about; empty or absent = the value itself. */
  readonly field?: readonly string[];
}

/** A rule about a change: only the API server sees both sides (`oldSelf` and `self`). */
export interface TransitionRule {
  readonly message: string;
  readonly cel: string;
  readonly field?: readonly string[];
}

/** One entry of `x-kubernetes-validations`. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

/** The rule as an entry of `x-kubernetes-validations`. */
export const celRule = ({ cel, message, field = [] }: TransitionRule): CelRule =>
  field.length === 0 ? { rule: cel, message } : { rule: cel, message, fieldPath: `.${field.join(".")}` };

/**
 * `schema` with `rules` in both forms. Descriptions and other metadata of `schema` are kept.
 * @param transitions rules about changes; they reach the CRD only
 */
export const withRules = <S extends z.ZodType>(
  schema: S,
  rules: readonly Rule<z.output<S>>[],
  transitions: readonly TransitionRule[] = [],
): S =>
  schema
    .superRefine((value, context) => {
      for (const rule of rules) {
        if (rule.holds(value)) continue;
        context.addIssue({ code: "custom", message: rule.message, path: [...(rule.field ?? [])] });
      }
    })
    .meta({ ...schema.meta(), [validationsKey]: [...rules, ...transitions].map(celRule) });

/** Rule that a string matches `pattern`, which must mean the same to JavaScript and RE2. */
export const matching = (pattern: RegExp, message: string): Rule<string> => ({
  message,
  cel: `self.matches(${JSON.stringify(pattern.source.replaceAll("\\/", "/"))})`,
  holds: (value) => pattern.test(value),
});
