import { type Answer, describeAnswer } from "./ask.ts";
import { type RefusalCode, refusalStatus } from "./refusals.ts";

/** A rule is broken: what was seen, and what must be instead. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly seen: string;
  readonly mustBe: string;

  constructor(seen: string, mustBe: string) {
    super(`seen: ${seen}; must be: ${mustBe}`);
    this.seen = seen;
    this.mustBe = mustBe;
  }
}

/** The engine cannot be brought into the situation that the rule is about. */
export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
}

/** Throws a {@link Violation} unless `holds`. */
export function must(holds: boolean, seen: string, mustBe: string): asserts holds {
  if (!holds) throw new Violation(seen, mustBe);
}

/** The body of an answer that must be a 200. */
export const done = (what: string, answer: Answer): Readonly<Record<string, unknown>> => {
  must(answer.status === 200, `${what}: ${describeAnswer(answer)}`, `${what}: 200`);
  return answer.body;
};

/** The body of an answer that must be the refusal `code`, with its status and as problem+json. */
export const refused = (what: string, answer: Answer, code: RefusalCode): Readonly<Record<string, unknown>> => {
  const status = refusalStatus[code];
  const asTold = answer.status === status && answer.body["code"] === code && answer.body["status"] === status;
  must(asTold, `${what}: ${describeAnswer(answer)}`, `${what}: ${status} ${code}`);
  const problem = answer.contentType.startsWith("application/problem+json");
  must(problem, `${what}: ${status} as ${answer.contentType}`, `${what}: a refusal is application/problem+json`);
  return answer.body;
};

/** Orders that must not have been acknowledged. */
export const notAcknowledged = (what: string, answers: readonly Answer[]): void => {
  const acked = answers.find((answer) => answer.status === 200);
  if (acked === undefined) return;
  throw new Violation(`${what}: ${describeAnswer(acked)}`, `${what}: no acknowledgement`);
};
