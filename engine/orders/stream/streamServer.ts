import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";

import type { TradingRules } from "../../exchange/tradingRules.ts";
import type { Clock } from "../../process/clock.ts";
import type { Replica } from "../../replica/replica.ts";
import { type HttpAnswer, leaderOf, notPrimary, problem } from "../answers.ts";
import { OrderStream, type OrderStreamOptions, type StreamLimits } from "./orderStream.ts";
import { type Goodbye, protocolName, streamPath } from "./protocol.ts";

export interface StreamServerOptions {
  readonly replica: Replica;
  readonly instance: string;
  readonly rules: TradingRules;
  readonly limits?: StreamLimits;
  readonly clock: Clock;
  readonly onAnswered: OrderStreamOptions["onAnswered"];
}

const defaultLimits: StreamLimits = { window: 4_096, heartbeatMs: 250, silenceMs: 10_000, stuckMs: 5_000 };

/** The order streams of a replica: opened by an upgrade of an HTTP request, and told when its role changes. */
export class StreamServer {
  readonly #options: StreamServerOptions;
  readonly #streams = new Set<OrderStream>();
  #closing = false;

  constructor(options: StreamServerOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Answers a request to upgrade. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // An HTTP server's sockets are those of node:net; only their declared type is wider.
    if (!(socket instanceof Socket)) throw new TypeError("an upgrade without a socket");
    const refusal = this.#refusal(request);
    const { standing } = this.#options.replica;
    if (refusal !== null || !("desk" in standing)) {
      refuse(socket, refusal ?? notPrimary(leaderOf(standing)));
      return;
    }
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocolName}\r\n\r\n`);
    const { instance, rules, clock, onAnswered, limits = defaultLimits } = this.#options;
    const { term, desk } = standing;
    const onClosed = (stream: OrderStream): unknown => this.#streams.delete(stream);
    const stream = new OrderStream({ socket, instance, term, desk, rules, limits, clock, onAnswered, onClosed });
    this.#streams.add(stream);
    stream.begin(head);
  }

  /** The replica's standing has changed: a stream is of one term only. */
  noticeStanding(): void {
    const { standing } = this.#options.replica;
    for (const stream of this.#streams) {
      if (!("term" in standing) || standing.term !== stream.term) {
        stream.leave(goodbye("NOT_PRIMARY", "this replica is no longer the primary", leaderOf(standing)));
      } else if (standing.role === "draining") {
        stream.leave(goodbye("DRAINING", "the primary hands over", null));
      } else stream.welcome();
    }
  }

  /** To be called at every heartbeat. */
  tick(): void {
    this.noticeStanding();
    for (const stream of this.#streams) stream.tick();
  }

  /** Sends everyone away, each with its answers. */
  windDown(): void {
    this.#closing = true;
    for (const stream of this.#streams) stream.leave(goodbye("SHUTTING_DOWN", "this replica is being stopped", null));
  }

  #refusal(request: IncomingMessage): HttpAnswer | null {
    const { pathname } = new URL(request.url ?? "/", "http://engine");
    if (pathname !== streamPath || request.method !== "GET") {
      return problem(404, "NO_SUCH_ROUTE", `only GET ${streamPath} is upgraded`);
    }
    if (request.headers.upgrade !== protocolName) {
      return problem(426, "WRONG_PROTOCOL", `ask for Upgrade: ${protocolName}`);
    }
    return this.#closing ? problem(503, "SHUTTING_DOWN", "this replica is being stopped; try another") : null;
  }
}

const goodbye = (code: Goodbye["code"], detail: string, leader: Goodbye["leader"]): Goodbye => ({
  code,
  detail,
  leader,
});

const refuse = (socket: Socket, { status, body }: HttpAnswer): void => {
  const text = Buffer.from(JSON.stringify(body), "utf8");
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${text.length}\r\n\r\n${text.toString("utf8")}`,
  );
};
