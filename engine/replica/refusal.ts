/** Refusals of the control API. Each code is stable, and always has the same status. */
const statuses = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  NOT_FOUND: 404,
  STALE_EPOCH: 409,
  WRONG_STATE: 409,
  WRONG_CLUSTER: 409,
  BEHIND: 412,
  RECOVERING: 503,
  TIMEOUT: 504,
  INTERNAL: 500,
} as const;

export type RefusalCode = keyof typeof statuses;

/** A call that was refused; nothing was changed by it. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** With STALE_EPOCH: the epoch that was promised. */
  readonly promised: number | undefined;

  constructor(code: RefusalCode, detail: string, promised?: number) {
    super(detail);
    this.name = "Refusal";
    this.code = code;
    this.promised = promised;
  }
}

/** Body of an application/problem+json answer. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: RefusalCode;
  readonly detail: string;
  readonly promised?: number;
}

export const problemOf = (refusal: Refusal): ProblemBody => ({
  type: "about:blank",
  title: refusal.code.toLowerCase().replaceAll("_", " "),
  status: statuses[refusal.code],
  code: refusal.code,
  detail: refusal.message,
  ...(refusal.promised === undefined ? {} : { promised: refusal.promised }),
});
