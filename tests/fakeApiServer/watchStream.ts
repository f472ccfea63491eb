/** One open watch, in the hands of a test: what the server has to say goes through it, and may be spoilt on the way. */
import type { ServerResponse } from "node:http";

export interface WatchStream {
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
  /** The next two changes are sent in the wrong order. */
  swapNextTwo(): void;
  /** Of the next change only a part is sent, then the connection is reset. */
  cutInNext(): void;
}

/** The server's own end of a watch. */
export interface WatchFeed {
  readonly stream: WatchStream;
  /** Passes a change on, unless the test has something else in mind for it. */
  change(type: string, object: unknown): void;
  /** Calls `listener` once when the watch is over, whoever ended it. */
  onEnd(listener: () => void): void;
}

interface Change {
  readonly type: string;
  readonly object: unknown;
}

/** Begins the answer to a watch. `version` is where a bookmark would stand. */
export const openWatchStream = (response: ServerResponse, version: () => string): WatchFeed => {
  const listeners = new Set<() => void>();
  let silent = false;
  let closed = false;
  let toDrop = 0;
  let cutting = false;
  let swapping = false;
  let heldBack: Change | undefined;

  const close = (): void => {
    if (closed) return;
    closed = true;
    for (const listener of listeners) listener();
  };
  const sendRaw = (text: string): void => {
    if (!silent && !closed) response.write(text);
  };
  const send = (type: string, object: unknown) => sendRaw(lineOf({ type, object }));
  const reset = (): void => {
    close();
    response.socket?.resetAndDestroy();
  };
  const cutIn = (change: Change): void => {
    const line = lineOf(change);
    close();
    response.write(line.slice(0, line.length / 2), () => response.socket?.resetAndDestroy());
  };

  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  response.once("close", close);

  return {
    stream: {
      get open() {
        return !closed;
      },
      send,
      sendRaw,
      bookmark: () => send("BOOKMARK", { metadata: { resourceVersion: version() } }),
      sendError: (code, reason) => send("ERROR", { kind: "Status", code, reason, message: reason }),
      end() {
        close();
        response.end();
      },
      reset,
      goSilent() {
        silent = true;
      },
      dropNext(count) {
        toDrop = count;
      },
      swapNextTwo() {
        swapping = true;
      },
      cutInNext() {
        cutting = true;
      },
    },
    change(type, object) {
      if (closed) return;
      if (toDrop > 0) {
        toDrop--;
        return;
      }
      if (cutting) {
        cutIn({ type, object });
        return;
      }
      if (swapping) {
        swapping = false;
        heldBack = { type, object };
        return;
      }
      send(type, object);
      if (heldBack === undefined) return;
      send(heldBack.type, heldBack.object);
      heldBack = undefined;
    },
    onEnd: (listener) => void listeners.add(listener),
  };
};

const lineOf = (change: Change): string => `${JSON.stringify(change)}\n`;
