/** Refusals of the control API: each code is stable and has one status. */
export const refusalStatus = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  NOT_FOUND: 404,
  STALE_EPOCH: 409,
  WRONG_STATE: 409,
  WRONG_CLUSTER: 409,
  BEHIND: 412,
  HALTED: 423,
  INTERNAL: 500,
  RECOVERING: 503,
  TIMEOUT: 504,
} as const;

export type RefusalCode = keyof typeof refusalStatus;
