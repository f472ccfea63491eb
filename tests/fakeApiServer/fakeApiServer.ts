/**
 * An API server in the test's own process: it keeps objects, lists, watches and checks preconditions as the real one
 * does, and fails in every way a test asks for. It knows no schemas, defaults or authorization.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ClusterAccess } from "../../reconciler/kube/access.ts";
import { answer, type Target, targetOf } from "./fakeRequests.ts";
import { createFakeStore, type FakeStore } from "./fakeStore.ts";
import { type FakeWatch, openFakeWatch } from "./fakeWatch.ts";
import { type Fault, type FaultMatch, inflict, sendStatus } from "./fault.ts";

export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly watch: boolean;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface FakeApiServer {
  readonly access: ClusterAccess;
  readonly store: FakeStore;
  /** All requests so far, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** All watches so far, oldest first. */
  readonly watches: readonly FakeWatch[];
  /** Connections that were ever opened. */
  readonly connections: number;
  /** Connections that are open. */
  readonly openConnections: number;
  /** Misbehaves for matching requests from now on; the first fault that matches counts. */
  fail(match: FaultMatch, fault: Fault): void;
  clearFaults(): void;
  /** Drops all that is over from `requests`, `watches` and the history of `store`, which else grow in a long test. */
  forget(): void;
  /** Refuses connections and resets those that are open. */
  goDown(): Promise<void>;
  /** Accepts connections again, at the same port. */
  comeUp(): Promise<void>;
  stop(): Promise<void>;
}

interface ArmedFault {
  readonly match: FaultMatch;
  readonly fault: Fault;
  left: number;
}

/** Starts one on a free port of the loopback address. */
export const startFakeApiServer = async (): Promise<FakeApiServer> => {
  const store = createFakeStore();
  const requests: SeenRequest[] = [];
  const watches: FakeWatch[] = [];
  const sockets = new Set<Socket>();
  let faults: ArmedFault[] = [];
  let connections = 0;

  const faultFor = (request: SeenRequest): Fault | undefined => {
    const armed = faults.find(({ match, left }) => left > 0 && matches(match, request));
    if (armed !== undefined) armed.left--;
    return armed?.fault;
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url ?? "/", "http://fake");
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
    const target = targetOf(url.pathname);
    if (request.watch) {
      serveWatch(target, url, response);
      return;
    }
    const reply = answer(store, target, request, url.searchParams);
    if (proceed === "workAndReset") {
      response.socket?.resetAndDestroy();
      return;
    }
    if ("status" in reply) {
      sendStatus(response, { do: "status", ...reply.status });
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(reply.body));
  };

  const serveWatch = (target: Target, url: URL, response: ServerResponse): void => {
    const from = Number(url.searchParams.get("resourceVersion"));
    if (store.since(from, target.collection) === undefined) {
      sendStatus(response, { do: "status", code: 410, reason: "Expired" });
      return;
    }
    watches.push(openFakeWatch(response, store, { ...target, path: url.pathname }, url.searchParams));
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
    access: {
      server: `http://127.0.0.1:${port}`,
      namespace: undefined,
      credentials: () => Promise.resolve({ headers: {}, tls: {} }),
    },
    store,
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
      store.compact();
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
