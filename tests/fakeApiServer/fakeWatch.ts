/** One open watch of the fake API server, in the hands of a test. */
import type { ServerResponse } from "node:http";
import type { FakeStore, HistoryEntry } from "./fakeStore.ts";

export interface FakeWatch {
  /** Of the collection, with its namespace if it has one. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly open: boolean;
  /** Sends an event of any content. */
  send(type: string, object: unknown): void;
  /** Sends bytes as they are. */
  sendRaw(text: string): void;
  bookmark(): void;
  /** Sends an ERROR event with a Status. */
  sendError(code: number, reason: string): void;
  /** Ends it in order, as the server does at its timeout. */
  end(): void;
  /** Resets the connection. */
  reset(): void;
  /** Nothing more is sent, and the connection stays open: as when the network in between has died. */
  goSilent(): void;
  /** The next `count` changes are not sent. */
  dropNext(count: number): void;
}

export const openFakeWatch = (
  response: ServerResponse,
  store: FakeStore,
  target: { readonly path: string; readonly collection: string; readonly namespace: string | undefined },
  query: URLSearchParams,
): FakeWatch => {
  let silent = false;
  let closed = false;
  let toDrop = 0;
  const sendRaw = (text: string): void => {
    if (!silent && !closed) response.write(text);
  };
  const send = (type: string, object: unknown) => sendRaw(`${JSON.stringify({ type, object })}\n`);
  const onChange = (entry: HistoryEntry): void => {
    if (entry.collection !== target.collection) return;
    if (target.namespace !== undefined && entry.object.metadata.namespace !== target.namespace) return;
    if (toDrop > 0) {
      toDrop--;
      return;
    }
    send(entry.type, entry.object);
  };

  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  for (const entry of store.since(Number(query.get("resourceVersion")), target.collection) ?? []) onChange(entry);
  const stopListening = store.onChange(onChange);
  const close = (): void => {
    closed = true;
    stopListening();
  };
  response.once("close", close);

  return {
    path: target.path,
    query,
    get open() {
      return !closed;
    },
    send,
    sendRaw,
    bookmark: () => send("BOOKMARK", { metadata: { resourceVersion: String(store.version) } }),
    sendError: (code, reason) => send("ERROR", { kind: "Status", code, reason, message: reason }),
    end() {
      close();
      response.end();
    },
    reset() {
      close();
      response.socket?.resetAndDestroy();
    },
    goSilent() {
      silent = true;
    },
    dropNext(count) {
      toDrop = count;
    },
  };
};
