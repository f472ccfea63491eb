/** What follows when a watch ends, by why it ended: the rules of a reflector, as one pure function. */
import type { ApiError } from "./errors.ts";

/** How a watch ended. */
export interface WatchEnd {
  /** None when the server ended it in order. */
  readonly error: ApiError | undefined;
  /** The error came as an event in the stream, not as the answer to the request or from the connection. */
  readonly inBand: boolean;
  /** The answer had begun. */
  readonly opened: boolean;
  /** Events and bookmarks received. */
  readonly received: number;
  /** From its opening on. */
  readonly durationMs: number;
  /** For how long no watch could be opened. */
  readonly failingMs: number;
}

export type NextStep =
  /** Watch on from the last seen version, at once. */
  | { readonly do: "resume" }
  /** Watch on from the last seen version, after the backoff, and not before `atLeastMs`. */
  | { readonly do: "resumeLater"; readonly atLeastMs: number }
  /** List again, after the backoff unless `now`. */
  | { readonly do: "relist"; readonly cause: string; readonly now: boolean };

/** A watch that ends sooner, without an event, was not really served: something between cuts it. */
const shortestHealthyMs = 1_000;
/** A server that fails for this long on a watch may well be able to list. */
const mostFailingMs = 60_000;

export const afterWatch = (end: WatchEnd): NextStep => {
  const { error } = end;
  if (error === undefined) return afterCleanEnd(end);
  switch (error.kind) {
    case "expired":
      return { do: "relist", cause: "expired", now: true };
    case "tooManyRequests":
      return { do: "resumeLater", atLeastMs: error.retryAfterMs ?? 0 };
    case "unreachable":
    case "timeout":
    case "server":
      if (end.inBand) return { do: "relist", cause: error.kind, now: false };
      if (end.opened) return afterCleanEnd(end);
      // Nobody answers: a list would fail as well, and cost more when it does not.
      if (error.kind !== "server" || end.failingMs < mostFailingMs) {
        return { do: "resumeLater", atLeastMs: error.retryAfterMs ?? 0 };
      }
      return { do: "relist", cause: error.kind, now: false };
    case "badRequest":
    case "unauthorized":
    case "forbidden":
    case "notFound":
    case "alreadyExists":
    case "conflict":
    case "tooLarge":
    case "invalid":
    case "malformed":
    case "fenced":
    case "aborted":
    case "other":
      return { do: "relist", cause: error.kind, now: false };
  }
};

const afterCleanEnd = (end: WatchEnd): NextStep =>
  end.received === 0 && end.durationMs < shortestHealthyMs
    ? { do: "relist", cause: "shortWatch", now: false }
    : { do: "resume" };
