import type { MessagePort } from "node:worker_threads";

import type { ReplicaCall } from "../replica/calls.ts";
import { Refusal } from "../replica/refusal.ts";
import type { Answer, FromControl, Query } from "./messages.ts";

/** Asks the main thread, and never waits for it longer than a deadline: it may be stuck. */
export class MainThreadClient {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  call(call: ReplicaCall, deadlineMs: number): Promise<Answer> {
    return this.#ask((id) => ({ kind: "call", id, call }), deadlineMs);
  }

  query(query: Query, deadlineMs: number): Promise<Answer> {
    return this.#ask((id) => ({ kind: "query", id, query }), deadlineMs);
  }

  /** An answer of the main thread came in. */
  resolve(id: number, answer: Answer): void {
    this.#waiting.get(id)?.(answer);
  }

  #ask(message: (id: number) => FromControl, deadlineMs: number): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Refusal("TIMEOUT", `no answer within ${deadlineMs} ms; the outcome is unknown, read the status`));
      }, deadlineMs);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(answer);
      });
      this.#port.postMessage(message(id));
    });
  }
}
