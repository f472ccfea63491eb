/** Refusals of the control API. Each code is stable, and always has the same status. */
const statuses = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  NOT_FOUND: 404,
  STALE_EPOCH: 409,
  WRONG_STATE: 409,
  WRONG_CLUSTER: 409,
  OP_ID_REUSED: 409,
  BUSY: 409,
  /** Not applied yet, and not within the time that a reader is made to wait. */
  PENDING: 408,
  /** Was here once, and is not kept any more. */
  GONE: 410,
  BEHIND: 412,
  RANGE_NOT_SATISFIABLE: 416,
  HALTED: 423,
  RECOVERING: 503,
  TIMEOUT: 504,
  NO_SPACE: 507,
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
