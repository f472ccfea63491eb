import { type Log, messageOf } from "../process/log.ts";
import type { Timers } from "../process/timers.ts";
import { chunkBytes, type SnapshotFetch } from "../snapshots/snapshotFetch.ts";
import type { SnapshotStore } from "../snapshots/snapshotStore.ts";
import { encodeChunkHead, encodeMessage, type Frame } from "./frames.ts";

export interface SnapshotTransferOptions {
  readonly store: SnapshotStore;
  readonly timers: Timers;
  readonly log: Log;
  readonly send: (...pieces: readonly Uint8Array[]) => void;
}

/** Between two chunks, so that whoever fetches and whoever is asked have time for orders. */
const pauseMs = 2;

/** Snapshots over one replication connection, in both directions. */
export class SnapshotTransfer {
  readonly #options: SnapshotTransferOptions;
  #waiting: {
    readonly resolve: (chunk: Frame & { readonly type: "snapshotChunk" }) => void;
    readonly reject: (error: Error) => void;
  } | null = null;
  #closed = false;

  constructor(options: SnapshotTransferOptions) {
    this.#options = options;
  }

  /** True when the frame belonged to a transfer. */
  handle(frame: Frame): boolean {
    switch (frame.type) {
      case "snapshotRequest":
        void this.#serve(frame.body);
        return true;
      case "snapshotChunk":
        this.#waiting?.resolve(frame);
        return true;
      case "hello":
      case "welcome":
      case "refused":
      case "snapshotOffer":
      case "records":
      case "pulse":
      case "ack":
        return false;
    }
  }

  /** Asks the peer for the rest of `fetch`. Rejects when the connection closes or what comes is unusable. */
  async run(fetch: SnapshotFetch): Promise<void> {
    const { timers, send } = this.#options;
    for (let next = fetch.next; next !== null; next = fetch.next) {
      const answer = this.#answer();
      send(encodeMessage("snapshotRequest", next));
      const { offset, bytes } = await answer;
      await fetch.receive(offset, bytes);
      await new Promise<void>((resolve) => void timers.after(pauseMs, resolve));
    }
    await fetch.finish();
  }

  /** The connection is closed. */
  close(): void {
    this.#closed = true;
    this.#waiting?.reject(new ConnectionClosed());
  }

  #answer(): Promise<Frame & { readonly type: "snapshotChunk" }> {
    if (this.#closed) return Promise.reject(new ConnectionClosed());
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  async #serve(body: unknown): Promise<void> {
    const { store, log, send } = this.#options;
    const request = parseRequest(body);
    let bytes: Buffer = Buffer.alloc(0);
    try {
      if (request !== null) bytes = await store.readChunk(request.id, request.offset, chunkBytes);
    } catch (error) {
      // Removed meanwhile, most likely: whoever asks gets a newer one when it connects again.
      log.warn("a snapshot could not be read for a peer", { error: messageOf(error) });
    }
    if (!this.#closed) send(encodeChunkHead(request?.offset ?? 0, bytes.length), bytes);
  }
}

/** The peer is gone; what arrived is kept for the next connection. */
export class ConnectionClosed extends Error {
  constructor() {
    super("the connection closed while a snapshot was fetched");
    this.name = "ConnectionClosed";
  }
}

const parseRequest = (body: unknown): { readonly id: string; readonly offset: number } | null => {
  const fields = new Map<string, unknown>(typeof body === "object" && body !== null ? Object.entries(body) : []);
  const [id, offset] = [fields.get("id"), fields.get("offset")];
  // The id becomes a part of a path.
  if (typeof id !== "string" || !/^\d{1,16}-\d{1,16}$/.test(id)) return null;
  return typeof offset === "number" && Number.isSafeInteger(offset) && offset >= 0 ? { id, offset } : null;
};
