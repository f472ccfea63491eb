/**
 * One HTTP exchange with the API server: kept-alive connections in a pool for each kind of work, a deadline on every
 * exchange, and a last look at the caller's guard at the moment the bytes go out.
 */
import type { IncomingHttpHeaders } from "node:http";
import { type Dispatcher, Pool } from "undici";
import type { ClusterAccess, Credentials } from "./access.ts";
import type { Clock } from "./clock.ts";
import { createConnector } from "./connector.ts";
import { ApiError, errorOfStatus } from "./errors.ts";
import type { RequestMetrics } from "./metrics.ts";

/**
 * Connections are pooled by the kind of work, so that none waits for another: leases never queue behind work, and
 * watches, which hold a connection each for minutes, never use up those of the work.
 */
export type Lane = "default" | "lease" | "watch";

/** Most connections at a time; null = as many as there are watches. */
const connections: Readonly<Record<Lane, number | null>> = { default: 16, lease: 2, watch: null };

/** Below the 90 s after which kube-apiserver drops an idle connection, so that it is never we who are surprised. */
const keepAliveMs = 60_000;
/** An error's body is read for its Status only. */
const errorBodyLimit = 1 << 20;

export interface Exchange {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly lane: Lane;
  readonly signal?: AbortSignal;
  /** From now to the end of the answer, or only to its headers when `untilHeaders`. */
  readonly timeoutMs: number;
  readonly untilHeaders?: boolean;
  /** Asked at the moment the request is written to its connection: an error stops it unsent. */
  readonly guard?: () => ApiError | undefined;
}

export interface ResponseHead {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
}

/** Takes a successful answer as it arrives. What it throws fails the exchange. */
export interface ResponseSink {
  onHead?(head: ResponseHead): void;
  /** So many bytes of a body arrived, that of an error too. */
  onBytes?(count: number): void;
  onData(chunk: Buffer): void;
}

export interface Transport {
  /** Resolves once a 2xx answer is complete. Throws {@link ApiError} for all that can go wrong. */
  exchange(exchange: Exchange, sink: ResponseSink): Promise<void>;
  /** Cuts all connections. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly access: ClusterAccess;
  /** Product and version: how audit logs and API priority and fairness tell us apart. */
  readonly userAgent: string;
  readonly clock: Clock;
  readonly metrics?: RequestMetrics | undefined;
}

export const createTransport = (options: TransportOptions): Transport => {
  const { access, clock, metrics } = options;
  const server = new URL(access.server);
  const basePath = server.pathname.replace(/\/+$/, "");
  const connect = createConnector(access);
  const pools = new Map<Lane, Pool>();
  let closed = false;

  const poolOf = (lane: Lane): Pool => {
    const known = pools.get(lane);
    if (known !== undefined) return known;
    const pool = new Pool(server.origin, {
      connections: connections[lane],
      connect,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // Our own deadline covers these, and an idle watch is healthy.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    pools.set(lane, pool);
    return pool;
  };

  const attempt = async (exchange: Exchange, sink: ResponseSink, refused: boolean): Promise<void> => {
    const started = clock.now();
    const bytes = { sent: Buffer.byteLength(exchange.body ?? ""), received: 0 };
    let code = "<error>";
    try {
      const credentials = await credentialsOf(access, exchange, refused);
      await dispatch({
        pool: poolOf(exchange.lane),
        clock,
        exchange,
        request: {
          method: exchange.method,
          path: basePath + exchange.path,
          body: exchange.body ?? null,
          headers: {
            ...credentials.headers,
            accept: "application/json",
            "user-agent": options.userAgent,
            ...(exchange.contentType === undefined ? {} : { "content-type": exchange.contentType }),
          },
        },
        sink: {
          onHead(head) {
            code = String(head.code);
            sink.onHead?.(head);
          },
          onBytes: (count) => void (bytes.received += count),
          onData: (chunk) => sink.onData(chunk),
        },
      });
    } catch (error) {
      if (error instanceof ApiError && error.code > 0) code = String(error.code);
      throw error;
    } finally {
      metrics?.observe({
        method: exchange.method,
        host: server.host,
        code,
        ms: clock.now() - started,
        ...(exchange.untilHeaders === true ? {} : { bytes }),
      });
    }
  };

  return {
    async exchange(exchange, sink) {
      // Without this a repeated read would open a new pool behind the back of whoever closed the old one.
      if (closed) throw new ApiError({ kind: "aborted", message: `${callOf(exchange)}: the client is closed` });
      try {
        await attempt(exchange, sink, false);
      } catch (error) {
        // The token was rotated since it was last read: once more with what is on disk now.
        if (!(error instanceof ApiError) || error.kind !== "unauthorized") throw error;
        await attempt(exchange, sink, true);
      }
    },
    async close() {
      closed = true;
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
};

const credentialsOf = async (access: ClusterAccess, exchange: Exchange, refused: boolean): Promise<Credentials> => {
  try {
    return await access.credentials(refused);
  } catch (error) {
    throw new ApiError({
      kind: "unauthorized",
      message: `${callOf(exchange)}: cannot read credentials: ${messageOf(error)}`,
      cause: error,
    });
  }
};

interface Dispatch {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly exchange: Exchange;
  readonly request: Dispatcher.DispatchOptions;
  readonly sink: ResponseSink;
}

/** Settles at the deadline or the abort whatever the connection does; a request that is still queued then is never sent. */
const dispatch = ({ pool, clock, exchange, request, sink }: Dispatch): Promise<void> =>
  new Promise((resolve, reject) => {
    const { signal } = exchange;
    let controller: Dispatcher.DispatchController | undefined;
    let failure: ApiError | undefined;
    let head: ResponseHead | undefined;
    let errorBody = "";

    const finish = () => {
      deadline.cancel();
      signal?.removeEventListener("abort", onAbort);
    };
    const fail = (error: ApiError) => {
      if (failure !== undefined) return;
      failure = error;
      finish();
      reject(error);
      controller?.abort(error);
    };
    // Made only when needed: an error costs its stack trace, which is more than the rest of a call.
    const onAbort = () => fail(new ApiError({ kind: "aborted", message: `${callOf(exchange)}: aborted` }));

    if (signal?.aborted === true) {
      reject(new ApiError({ kind: "aborted", message: `${callOf(exchange)}: aborted` }));
      return;
    }
    signal?.addEventListener("abort", onAbort, { once: true });
    const deadline = clock.setTimeout(
      () =>
        fail(new ApiError({ kind: "timeout", message: `${callOf(exchange)}: no answer in ${exchange.timeoutMs} ms` })),
      exchange.timeoutMs,
    );

    pool.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        const refusal = failure ?? exchange.guard?.();
        if (refusal === undefined) return;
        fail(refusal);
        started.abort(refusal);
      },
      onResponseStart(_, code, headers) {
        head = { code, headers };
        if (!isSuccess(code)) return;
        if (exchange.untilHeaders === true) deadline.cancel();
        sink.onHead?.(head);
      },
      onResponseData(_, chunk) {
        if (failure !== undefined || head === undefined) return;
        sink.onBytes?.(chunk.length);
        if (!isSuccess(head.code)) {
          if (errorBody.length < errorBodyLimit) errorBody += chunk.toString("utf8");
          return;
        }
        try {
          sink.onData(chunk);
        } catch (error) {
          fail(sinkError(error, exchange));
        }
      },
      onResponseEnd() {
        if (failure !== undefined || head === undefined) return;
        if (!isSuccess(head.code)) {
          fail(errorOfStatus(head.code, jsonOrNothing(errorBody), callOf(exchange), retryAfterMs(head.headers)));
          return;
        }
        finish();
        resolve();
      },
      onResponseError(_, error) {
        fail(new ApiError({ kind: "unreachable", message: `${callOf(exchange)}: ${messageOf(error)}`, cause: error }));
      },
    });
  });

const sinkError = (error: unknown, exchange: Exchange): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError({ kind: "malformed", message: `${callOf(exchange)}: ${messageOf(error)}`, cause: error });

const isSuccess = (code: number): boolean => code >= 200 && code < 300;

const callOf = (exchange: Exchange): string => {
  const query = exchange.path.indexOf("?");
  return `${exchange.method} ${query < 0 ? exchange.path : exchange.path.slice(0, query)}`;
};

/** The API server sends whole seconds; a date, which proxies may send, is left to the caller's own pace. */
const retryAfterMs = (headers: IncomingHttpHeaders): number | undefined => {
  const seconds = Number(headers["retry-after"]);
  return Number.isFinite(seconds) && seconds >= 0 && headers["retry-after"] !== undefined ? seconds * 1000 : undefined;
};

const jsonOrNothing = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error));
