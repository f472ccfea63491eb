/** Which failed exchanges are worth another try right away, and after what wait. */
import { type Clock, sleep } from "./clock.ts";
import { ApiError } from "./errors.ts";

/** As many as client-go makes before it hands the error on. */
const mostRetries = 10;
const mostReconnects = 3;

/**
 * The wait before trying again, or undefined when the error goes to the caller. The server's own request to come back
 * later means that nothing was done, so it is honoured for writes too; after a lost connection only a read is
 * repeated, since a write may have taken effect.
 */
export const retryWaitMs = (error: unknown, method: string, retries: number): number | undefined => {
  if (!(error instanceof ApiError) || retries >= mostRetries) return undefined;
  if ((error.code === 429 || error.code >= 500) && error.retryAfterMs !== undefined) return error.retryAfterMs;
  const lostConnection = error.kind === "unreachable" && !isRefused(error.cause);
  return lostConnection && method === "GET" && retries < mostReconnects ? 0 : undefined;
};

/** Nobody listens: trying again at once would only be refused again. */
const isRefused = (cause: unknown): boolean =>
  cause instanceof Error &&
  "code" in cause &&
  (cause.code === "ECONNREFUSED" || cause.code === "UND_ERR_CONNECT_TIMEOUT");

export interface RetryOptions {
  readonly clock: Clock;
  readonly method: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onRetry: (error: ApiError) => void;
}

/** Runs `attempt`, with the time that is left for it, until it succeeds or is not to be repeated. */
export const withRetries = async <T>(options: RetryOptions, attempt: (timeoutMs: number) => Promise<T>): Promise<T> => {
  const { clock, method, signal } = options;
  const deadline = clock.now() + options.timeoutMs;
  for (let retries = 0; ; retries++) {
    try {
      return await attempt(deadline - clock.now());
    } catch (error) {
      const wait = retryWaitMs(error, method, retries);
      if (wait === undefined || clock.now() + wait >= deadline || signal?.aborted === true) throw error;
      if (error instanceof ApiError) options.onRetry(error);
      if (wait > 0) await sleep(clock, wait, signal);
    }
  }
};
