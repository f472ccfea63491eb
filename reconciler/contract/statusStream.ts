import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "undici";
import { streamLine } from "../../api/contract/v1.ts";
import { type ConnectionEnd, connectionEndOf } from "./connectionEnd.ts";
import { createLineSplitter } from "./lineSplitter.ts";
import { applyLine, isNews } from "./streamState.ts";
import type { StreamView } from "./streamView.ts";

const firstRetryMs = 50;
const lastRetryMs = 1_000;

export interface StatusStreamOptions {
  /** host:port of the control listener. */
  readonly address: string;
  /** Read before each attempt, so that a replaced token is taken up. */
  readonly token: () => Promise<string>;
  /** The engine answered 401 or 403: the token may be out of date. */
  readonly onUnauthorized: () => void;
  readonly heartbeatMs: number;
  /** An open connection that says nothing for so long is given up and opened anew. */
  readonly silenceMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** The view changed in a way that a decision may depend on. */
  readonly onChange: () => void;
}

export interface StatusStream {
  view(): StreamView;
  /** Ends the stream for good; `onChange` is not called any more. */
  close(): void;
}

/** Thrown inside an attempt to end it with a known reason. */
class AttemptEnded extends Error {
  readonly end: ConnectionEnd;
  constructor(end: ConnectionEnd, message: string) {
    super(message);
    this.end = end;
  }
}

/**
 * Keeps a status stream to one engine open until closed: connects, reads, and after a loss
 * tries again after 50 ms, doubling to 1 s. Never throws: what goes wrong is in the view.
 */
export function openStatusStream(options: StatusStreamOptions): StatusStream {
  const stop = new AbortController();
  let view: StreamView = {
    connection: { kind: "connecting", since: options.now() },
    lastHeardAt: undefined,
    status: undefined,
  };

  const set = (next: StreamView, news: boolean): void => {
    if (stop.signal.aborted) return;
    view = next;
    if (news) options.onChange();
  };

  const take = (text: string): void => {
    const line = streamLine.parse(JSON.parse(text));
    const before = view;
    const now = options.now();
    const heard = applyLine(before, line, now);
    const connection = before.connection.kind === "live" ? before.connection : ({ kind: "live", since: now } as const);
    set({ ...heard, connection }, connection !== before.connection || isNews(before, heard, line));
  };

  const attempt = async (): Promise<void> => {
    const client = new Client(`http://${options.address}`, {
      connect: { timeout: options.silenceMs },
      headersTimeout: options.silenceMs,
      bodyTimeout: options.silenceMs,
      pipelining: 1,
    });
    try {
      const { statusCode, body } = await client.request({
        method: "GET",
        path: `/v1/status/stream?heartbeatMs=${options.heartbeatMs}`,
        headers: { authorization: `Bearer ${await options.token()}` },
        signal: stop.signal,
      });
      if (statusCode === 401 || statusCode === 403) options.onUnauthorized();
      if (statusCode !== 200) throw new AttemptEnded("rejected", `the status stream answered ${statusCode}`);
      const split = createLineSplitter();
      for await (const chunk of body as AsyncIterable<Uint8Array>) for (const text of split(chunk)) take(text);
      throw new AttemptEnded("closed", "the engine ended the status stream");
    } finally {
      await client.destroy();
    }
  };

  const run = async (): Promise<void> => {
    let retryMs = firstRetryMs;
    while (!stop.signal.aborted) {
      const heardBefore = view.lastHeardAt;
      try {
        await attempt();
      } catch (error) {
        const reason = endOf(error);
        const { connection } = view;
        // A second failed attempt may name another reason, but the loss dates from the first.
        const since = connection.kind === "ended" ? connection.since : options.now();
        const news = connection.kind !== "ended" || connection.reason !== reason;
        set({ ...view, connection: { kind: "ended", since, reason } }, news);
      }
      if (view.lastHeardAt !== heardBefore) retryMs = firstRetryMs;
      await sleep(retryMs, undefined, { signal: stop.signal }).catch(() => undefined);
      retryMs = Math.min(retryMs * 2, lastRetryMs);
    }
  };

  void run();
  return { view: () => view, close: () => stop.abort() };
}

function endOf(error: unknown): ConnectionEnd {
  if (error instanceof AttemptEnded) return error.end;
  const isMalformed = error instanceof SyntaxError || (error instanceof Error && error.name === "ZodError");
  return isMalformed ? "rejected" : connectionEndOf(error);
}
