import type { ServerResponse } from "node:http";

import type { EngineStatus } from "./status.ts";

/** A reader that lets this much pile up is cut off: it would get old news for ever. */
const mostBufferedBytes = 1024 * 1024;

/** The readers of GET /v1/status/stream: a full status at the start and when something they act on changes, heartbeats between. */
export class StatusStream {
  readonly #current: () => EngineStatus;
  readonly #readers = new Set<ServerResponse>();
  #lastKey = "";

  constructor(current: () => EngineStatus) {
    this.#current = current;
  }

  add(response: ServerResponse, heartbeatMs: number): void {
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    this.#readers.add(response);
    const heartbeat = setInterval(() => this.#send(response, heartbeatLine(this.#current())), heartbeatMs);
    response.on("close", () => {
      clearInterval(heartbeat);
      this.#readers.delete(response);
    });
    this.#send(response, statusLine(this.#current()));
  }

  /** To be called whenever the status may have changed. */
  notice(): void {
    const status = this.#current();
    const key = changeKey(status);
    if (key === this.#lastKey) return;
    this.#lastKey = key;
    const line = statusLine(status);
    for (const reader of this.#readers) this.#send(reader, line);
  }

  #send(reader: ServerResponse, line: string): void {
    if (reader.writableLength > mostBufferedBytes) reader.destroy();
    else reader.write(line);
  }
}

const statusLine = (status: EngineStatus): string => `${JSON.stringify({ type: "status", status })}\n`;

const heartbeatLine = (status: EngineStatus): string =>
  `${JSON.stringify({
    type: "heartbeat",
    durable: status.durable,
    committed: status.watermarks.committed,
    writePath: status.writePath,
    lastHeardFromPrimaryMs: status.upstream?.lastHeardMs ?? null,
    upstreamConnected: status.upstream?.connected ?? false,
  })}\n`;

/** What readers act on at once; figures that move with every order are left to the heartbeats. */
const changeKey = (status: EngineStatus): string =>
  JSON.stringify([
    status.role,
    status.epoch,
    status.blank,
    status.sync === null
      ? null
      : [
          status.sync.k,
          status.sync.version,
          status.sync.satisfied,
          status.sync.members.map((member) => [member.instance, member.connected, member.inSync]),
        ],
    status.upstream === null ? null : [status.upstream.epoch, status.upstream.instance, status.upstream.connected],
    status.writePath.stalled,
    status.ready,
    status.readyReason.replaceAll(/\d+/g, "#"),
    status.journal.cutTails,
    status.snapshots.ids,
    status.snapshots.taking?.id,
    status.snapshots.warning,
    status.lastError,
    status.lastApplyFault,
  ]);
