import type { Problem } from "../../api/contract/v1.ts";
import type { ConnectionEnd } from "./connectionEnd.ts";

/** The engine understood the call and declined it: nothing changed there. */
export class EngineRefusal extends Error {
  readonly problem: Problem;

  constructor(call: string, problem: Problem) {
    super(`${call} was refused with ${problem.code}: ${problem.detail ?? problem.title}`);
    this.name = "EngineRefusal";
    this.problem = problem;
  }
}

/** No usable answer. The call may have taken effect: read the status again before deciding anything. */
export class EngineUnanswered extends Error {
  readonly end: ConnectionEnd;

  constructor(call: string, end: ConnectionEnd, cause: unknown) {
    super(`${call} got no usable answer (${end}): ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = "EngineUnanswered";
    this.end = end;
  }
}
