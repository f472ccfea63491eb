/** One error type for everything that can go wrong between a caller and the API server. */

/**
 * What a failed call means.
 *
 * - `conflict`: the object changed since it was read, or an apply met a field of another manager. Read again.
 * - `expired`: the asked resourceVersion or continue token is too old. List again.
 * - `timeout`: no answer within the deadline; whether a write took effect is unknown. Read again.
 * - `unreachable`: the connection failed; whether a write took effect is unknown. Read again.
 * - `malformed`: the answer was not the JSON that was promised.
 * - `fenced`: refused here, before sending, because this process may no longer be the leader.
 * - `aborted`: the caller's signal ended the call.
 */
export type ApiErrorKind =
  | "badRequest"
  | "unauthorized"
  | "forbidden"
  | "notFound"
  | "alreadyExists"
  | "conflict"
  | "expired"
  | "tooLarge"
  | "invalid"
  | "tooManyRequests"
  | "server"
  | "timeout"
  | "unreachable"
  | "malformed"
  | "fenced"
  | "aborted"
  | "other";

/** The `details` of a Status. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
}

/** A meta/v1 Status, as the API server answers a failed call or puts into a watch. */
export interface Status {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
}

export interface ApiErrorFields {
  readonly kind: ApiErrorKind;
  readonly message: string;
  /** HTTP status; 0 when there was no answer. */
  readonly code?: number;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind: ApiErrorKind;
  /** HTTP status; 0 when there was no answer. */
  readonly code: number;
  /** The machine-readable reason of the Status, or empty. */
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  /** How long the server asked to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(fields: ApiErrorFields) {
    super(fields.message, fields.cause === undefined ? {} : { cause: fields.cause });
    this.kind = fields.kind;
    this.code = fields.code ?? 0;
    this.reason = fields.reason ?? "";
    this.details = fields.details;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** Sorts an HTTP status and the Status' reason into a kind. */
export const kindOf = (code: number, reason: string): ApiErrorKind => {
  switch (code) {
    case 400:
      return "badRequest";
    case 401:
      return "unauthorized";
    case 403:
      return "forbidden";
    case 404:
      return "notFound";
    case 409:
      return reason === "AlreadyExists" ? "alreadyExists" : "conflict";
    case 410:
      return "expired";
    case 413:
      return "tooLarge";
    case 422:
      return "invalid";
    case 429:
      return "tooManyRequests";
    case 408:
    case 504:
      return "timeout";
  }
  return code >= 500 ? "server" : "other";
};

/**
 * The error for an answer of `code`; `body` is a Status where the API server itself answered, and anything at all
 * where a proxy did. `call` is put before the message, for people.
 */
export const errorOfStatus = (code: number, body: unknown, call: string, retryAfterMs?: number): ApiError => {
  const status = isStatus(body) ? body : {};
  const reason = status.reason ?? "";
  const seconds = status.details?.retryAfterSeconds;
  const wait = retryAfterMs ?? (seconds === undefined || seconds === 0 ? undefined : seconds * 1000);
  return new ApiError({
    kind: kindOf(code, reason),
    code,
    reason,
    message: `${call}: ${status.message ?? `HTTP ${code}`}`,
    ...(status.details === undefined ? {} : { details: status.details }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
};

const isStatus = (body: unknown): body is Status =>
  typeof body === "object" && body !== null && "kind" in body && body.kind === "Status";

const is =
  (kind: ApiErrorKind) =>
  (error: unknown): error is ApiError =>
    error instanceof ApiError && error.kind === kind;

export const isNotFound = is("notFound");
export const isAlreadyExists = is("alreadyExists");
export const isConflict = is("conflict");
export const isExpired = is("expired");
export const isInvalid = is("invalid");
export const isForbidden = is("forbidden");
export const isTooManyRequests = is("tooManyRequests");
export const isTimeout = is("timeout");
export const isUnreachable = is("unreachable");
export const isFenced = is("fenced");
export const isAborted = is("aborted");

/** The list asked for a version that this API server has not reached yet: list from the newest instead. */
export const isTooLargeResourceVersion = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  error.kind === "timeout" &&
  (error.details?.causes?.some((cause) => cause.reason === "ResourceVersionTooLarge") ?? false);
