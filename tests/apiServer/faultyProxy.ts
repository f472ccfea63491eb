/**
 * A proxy in front of a real API server that fails in every way a test asks for: what the client gets is the real one's
 * answer, unless a fault is in its way. Plain HTTP towards the client, TLS towards the server.
 */
import { readFile } from "node:fs/promises";
import { Agent, type Dispatcher, request as fetchAnswer } from "undici";
import type { ClusterAccess } from "../../reconciler/kube/access.ts";
import { createLineSplitter } from "../../reconciler/kube/lineSplitter.ts";
import type { Answer } from "../fakeApiServer/fault.ts";
import { type FaultyServer, type SeenRequest, startFaultyServer } from "../fakeApiServer/faultyServer.ts";
import type { WatchFeed } from "../fakeApiServer/watchStream.ts";
import type { ApiAddress } from "./apiClient.ts";

export interface FaultyProxy extends FaultyServer {
  /** To the API server through the proxy, as the user whose token it was given. */
  readonly access: ClusterAccess;
  /** Resolves once the API server has answered all it was asked through the proxy. */
  settled(): Promise<void>;
}

const answerDeadlineMs = 30_000;
/** What belongs to one connection, and what the proxy would have to undo. */
const ownHeaders = new Set(["host", "connection", "content-length", "transfer-encoding", "accept-encoding"]);

/** Starts one on a free port of the loopback address; a server that does not answer is an answer of 502. */
export const startFaultyProxy = async ({ url, caFile, token }: ApiAddress): Promise<FaultyProxy> => {
  const agent = new Agent({
    connect: { ca: await readFile(caFile) },
    headersTimeout: answerDeadlineMs,
    bodyTimeout: 0,
  });
  const asked = new Set<Promise<unknown>>();

  /** Counts the question as open until `work` is done with its answer. */
  const track = async <T>(work: Promise<T>): Promise<T> => {
    asked.add(work);
    try {
      return await work;
    } finally {
      asked.delete(work);
    }
  };
  const ask = ({ method, path, headers, body }: SeenRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> =>
    fetchAnswer(`${url}${path}`, {
      dispatcher: agent,
      method,
      headers: withoutOwnHeaders(headers),
      signal,
      ...(body === "" ? {} : { body }),
    });

  const front = await startFaultyServer({
    answer: (request) => track(ask(request, AbortSignal.timeout(answerDeadlineMs)).then(answerOf, badGateway)),
    async watch(request, open) {
      const ended = new AbortController();
      const answer = await track(ask(request, ended.signal)).catch(badGateway);
      if (!("statusCode" in answer)) return answer;
      if (answer.statusCode !== 200) return await answerOf(answer);
      let version = new URL(request.path, url).searchParams.get("resourceVersion") ?? "";
      const feed = open(() => version);
      feed.onEnd(() => ended.abort());
      void forward(answer, feed, (seen) => {
        version = seen;
      });
      return undefined;
    },
  });

  return {
    ...front,
    // A spread has read what changes: these are to be read anew each time.
    get connections() {
      return front.connections;
    },
    get openConnections() {
      return front.openConnections;
    },
    access: {
      server: front.url,
      namespace: undefined,
      credentials: () => Promise.resolve({ headers: { authorization: `Bearer ${token}` }, tls: {} }),
    },
    async settled() {
      while (asked.size > 0) await Promise.allSettled(asked);
    },
    async stop() {
      await front.stop();
      await agent.destroy();
    },
  };
};

const withoutOwnHeaders = (headers: SeenRequest["headers"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && !ownHeaders.has(name) ? [[name, value]] : [],
    ),
  );

const answerOf = async ({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Answer> => ({
  code: statusCode,
  headers: withoutOwnHeaders(headers),
  body: await body.text(),
});

const badGateway = (error: unknown): Answer => ({ code: 502, headers: {}, body: String(error) });

/** An event of a watch, as far as the proxy looks at it. */
interface SeenEvent {
  readonly type: string;
  readonly object: { readonly metadata?: { readonly resourceVersion?: string } };
}

/** Passes on what the API server tells until it ends, or its connection does. */
const forward = async (
  { body }: Dispatcher.ResponseData,
  feed: WatchFeed,
  onVersion: (version: string) => void,
): Promise<void> => {
  const push = createLineSplitter((line) => {
    // The API server sends what a watch is defined to be.
    const { type, object } = JSON.parse(line) as SeenEvent;
    if (type === "BOOKMARK" || type === "ERROR") feed.stream.send(type, object);
    else feed.change(type, object);
    if (object.metadata?.resourceVersion !== undefined) onVersion(object.metadata.resourceVersion);
  });
  try {
    for await (const chunk of body) push(chunk as Buffer);
    feed.stream.end();
  } catch {
    // Ended by the test, or broken off by the server: the client sees the one already, and must see the other.
    if (feed.stream.open) feed.stream.reset();
  }
};
