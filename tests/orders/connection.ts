import type { LookupFunction } from "node:net";
import { Client } from "undici";
import { type Reply, readReply } from "./reply.ts";

/** How one worker talks to order entry. */
export interface OrderConnection {
  /** POSTs `body` to `target` (host:port). Network trouble and timeouts are `unresolved`, never an exception. */
  send(target: string, body: string): Promise<Reply>;
  /** Closes the connection to `target`; the next send opens another. */
  drop(target: string): void;
  /** Closes everything; attempts under way end as `unresolved`. */
  close(): void;
}

export interface ConnectionOptions {
  readonly connectTimeoutMs: number;
  /** For one attempt, connecting included. */
  readonly attemptTimeoutMs: number;
  readonly lookup: LookupFunction;
}

/** Keep-alive connections, at most one to each replica. */
export class HttpConnection implements OrderConnection {
  readonly #options: ConnectionOptions;
  readonly #clients = new Map<string, Client>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async send(target: string, body: string): Promise<Reply> {
    // A timer of our own: undici's are accurate to a second only.
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new Error("no answer in time")), this.#options.attemptTimeoutMs);
    try {
      const response = await this.#clientOf(target).request({
        method: "POST",
        path: "/v1/orders",
        headers: { "content-type": "application/json" },
        body,
        signal: deadline.signal,
      });
      return readReply(response.statusCode, await response.body.text());
    } catch (error) {
      return { kind: "unresolved", reason: error instanceof Error ? error.message : String(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  drop(target: string): void {
    const client = this.#clients.get(target);
    this.#clients.delete(target);
    void client?.destroy();
  }

  close(): void {
    for (const target of [...this.#clients.keys()]) this.drop(target);
  }

  #clientOf(target: string): Client {
    const known = this.#clients.get(target);
    if (known !== undefined) return known;
    const client = new Client(`http://${target}`, {
      connect: { timeout: this.#options.connectTimeoutMs, lookup: this.#options.lookup },
    });
    this.#clients.set(target, client);
    return client;
  }
}
