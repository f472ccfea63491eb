import type { ServerResponse } from "node:http";

import { endLine, heartbeatLine } from "./feedLines.ts";
import type { FeedLog } from "./feedLog.ts";

/** Written at a time: what one reader may make this thread hold for it. */
const chunkChars = 256 * 1024;
const lingerMs = 1_000;

/** One connection that reads the feed, at its own pace as long as the log still holds what it needs next. */
export class FeedReader {
  readonly #response: ServerResponse;
  readonly #log: FeedLog;
  #next: number;
  #blocked = false;
  #ended = false;

  constructor(response: ServerResponse, log: FeedLog, from: number) {
    this.#response = response;
    this.#log = log;
    this.#next = from;
    response.on("drain", () => {
      this.#blocked = false;
      this.pump();
    });
  }

  /** Sends what is new, as far as the connection takes it. */
  pump(): void {
    while (!this.#blocked && !this.#ended) {
      const piece = this.#log.read(this.#next, chunkChars);
      if (piece === null) {
        this.end("TOO_SLOW", "what comes next is not kept any more; begin again with from=snapshot");
        return;
      }
      if (piece.text === "") return;
      this.#next = piece.next;
      this.#write(piece.text);
    }
  }

  /** Says that there is nothing new up to record `applied`. */
  heartbeat(applied: number): void {
    this.#dropIfTooSlow();
    if (!this.#blocked && !this.#ended && this.#next <= applied + 1) this.#write(heartbeatLine(applied));
  }

  end(code: string, detail: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#response.end(endLine(code, detail));
    setTimeout(() => this.#response.destroy(), lingerMs).unref();
  }

  /** A reader that takes nothing at all is not asked by {@link pump}. */
  #dropIfTooSlow(): void {
    if (this.#blocked && this.#next < this.#log.firstFrom) {
      this.end("TOO_SLOW", "what comes next is not kept any more; begin again with from=snapshot");
    }
  }

  #write(text: string): void {
    this.#blocked = !this.#response.write(text);
  }
}
