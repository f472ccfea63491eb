/**
 * The front of an API server that fails in every way a test asks for. What stands behind it answers what no fault keeps
 * away: the objects of the fake one, or a real one.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Answer, type Fault, type FaultMatch, inflict, sendAnswer } from "./fault.ts";
import { openWatchStream, type WatchFeed, type WatchStream } from "./watchStream.ts";

export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly watch: boolean;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface FaultyServer {
  /** Plain HTTP, on the loopback address. */
  readonly url: string;
  /** All requests so far, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** All watches so far, oldest first. */
  readonly watches: readonly WatchStream[];
  /** Connections that were ever opened. */
  readonly connections: number;
  /** Connections that are open. */
  readonly openConnections: number;
  /** Misbehaves for matching requests from now on; the first fault that matches counts. */
  fail(match: FaultMatch, fault: Fault): void;
  clearFaults(): void;
  /** Drops all that is over from `requests` and `watches`, which else grow in a long test. */
  forget(): void;
  /** Refuses connections and resets those that are open. */
  goDown(): Promise<void>;
  /** Accepts connections again, at the same port. */
  comeUp(): Promise<void>;
  stop(): Promise<void>;
}

export interface Backend {
  answer(request: SeenRequest): Answer | Promise<Answer>;
  /**
   * Begins a watch with `open`, whose bookmarks stand at the given version, and feeds it until its end; or returns its
   * refusal.
   */
  watch(
    request: SeenRequest,
    open: (version: () => string) => WatchFeed,
  ): Answer | undefined | Promise<Answer | undefined>;
}

interface ArmedFault {
  readonly match: FaultMatch;
  readonly fault: Fault;
  left: number;
}

/** Starts one on a free port of the loopback address. */
export const startFaultyServer = async (backend: Backend): Promise<FaultyServer> => {
  const requests: SeenRequest[] = [];
  const watches: WatchStream[] = [];
  const sockets = new Set<Socket>();
  let faults: ArmedFault[] = [];
  let connections = 0;

  const faultFor = (request: SeenRequest): Fault | undefined => {
    const armed = faults.find(({ match, left }) => left > 0 && matches(match, request));
    if (armed !== undefined) armed.left--;
    return armed?.fault;
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url ?? "/", "http://faulty");
    const request: SeenRequest = {
      method: incoming.method ?? "GET",
      path: url.pathname + url.search,
      watch: url.searchParams.get("watch") === "true",
      headers: incoming.headers,
      body: await bodyOf(incoming),
    };
    requests.push(request);
    const fault = faultFor(request);
    const proceed = fault === undefined ? "work" : await inflict(fault, response);
    if (proceed === "answered") return;
    const answer = request.watch
      ? await backend.watch(request, (version) => {
          const feed = openWatchStream(response, version);
          watches.push(feed.stream);
          return feed;
        })
      : await backend.answer(request);
    if (proceed === "workAndReset") response.socket?.resetAndDestroy();
    else if (answer !== undefined) sendAnswer(response, answer);
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const listen = (port: number) => new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  const goDown = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  await listen(0);
  // A listening TCP server has a port; only one on a pipe would answer a string.
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    watches,
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    fail: (match, fault) => void faults.push({ match, fault, left: match.times ?? Number.POSITIVE_INFINITY }),
    clearFaults() {
      faults = [];
    },
    forget() {
      requests.length = 0;
      watches.splice(0, watches.length, ...watches.filter((watch) => watch.open));
    },
    goDown,
    comeUp: () => listen(port),
    async stop() {
      if (server.listening) await goDown();
    },
  };
};

const matches = (match: FaultMatch, request: SeenRequest): boolean =>
  (match.method === undefined || match.method === request.method) &&
  (match.path === undefined || request.path.includes(match.path)) &&
  (match.watch === undefined || match.watch === request.watch);

const bodyOf = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
};
