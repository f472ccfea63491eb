import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import type { Exchange } from "../exchange/exchange.ts";
import type { TradingRules } from "../exchange/tradingRules.ts";
import type { EngineMetrics } from "../metrics/engineMetrics.ts";
import type { Clock } from "../process/clock.ts";
import type { ListenAddress } from "../process/config.ts";
import { BodyTooLong, readBody } from "../process/httpBody.ts";
import { listen } from "../process/listen.ts";
import { type Log, messageOf } from "../process/log.ts";
import type { OrderDesk, OrderOutcome } from "../replica/orderDesk.ts";
import type { Replica, Standing } from "../replica/replica.ts";
import { answerOf, bookBody, type HttpAnswer, type Leader, notPrimary, problem } from "./answers.ts";
import { InvalidOrder, parseClientId, parseOrder } from "./parseOrder.ts";

export interface OrderServerOptions {
  readonly replica: Replica;
  readonly exchange: Exchange;
  /** Those that this replica leads an epoch with. */
  readonly rules: TradingRules;
  readonly metrics: EngineMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

const mostBodyBytes = 4_096;
const deepestBook = 1_000;

/** Order entry over HTTP. */
export class OrderServer {
  readonly #options: OrderServerOptions;
  readonly #server: Server;
  #closing = false;

  constructor(options: OrderServerOptions) {
    this.#options = options;
    this.#server = createServer(
      { noDelay: true, requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 60_000 },
      (request, response) => void this.#serve(request, response),
    );
  }

  listen(address: ListenAddress): Promise<ListenAddress> {
    return listen(this.#server, address, "TE_ORDER_ADDR");
  }

  /** From now on every answer asks the client to go elsewhere for its next request. */
  windDown(): void {
    this.#closing = true;
  }

  /** Resolves once the answers under way are sent. */
  close(): Promise<void> {
    this.#closing = true;
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = this.#options.clock();
    try {
      const { answer, outcome } = await this.#route(request);
      this.#options.metrics.answered(outcome, (this.#options.clock() - start) / 1000);
      this.#send(response, answer);
    } catch (error) {
      this.#options.metrics.answered("invalid", 0);
      this.#send(response, this.#failure(error));
    }
  }

  async #route(request: IncomingMessage): Promise<Routed> {
    const url = new URL(request.url ?? "/", "http://engine");
    const method = request.method ?? "";
    if (url.pathname === "/v1/book" && method === "GET") return this.#book(url.searchParams);
    if (url.pathname === "/v1/orders" && method === "POST") {
      const text = await readBody(request, mostBodyBytes);
      return this.#atDesk((desk) => desk.place(parseOrder(text, this.#options.rules), this.#options.rules));
    }
    const id = /^\/v1\/orders\/([^/]+)$/.exec(url.pathname)?.[1];
    if (id === undefined || (method !== "GET" && method !== "DELETE")) {
      throw new NoSuchRoute(`there is no ${method} ${url.pathname}`);
    }
    const clientId = parseClientId(decodeURIComponent(id));
    return this.#atDesk((desk) => (method === "GET" ? desk.find(clientId) : desk.cancel(clientId)));
  }

  async #atDesk(ask: (desk: OrderDesk) => Promise<OrderOutcome>): Promise<Routed> {
    const { standing } = this.#options.replica;
    if (!("desk" in standing)) return { answer: notPrimary(leaderOf(standing)), outcome: "notPrimary" };
    const outcome = await ask(standing.desk);
    return { answer: answerOf(outcome), outcome: outcome.kind };
  }

  async #book(query: URLSearchParams): Promise<Routed> {
    const { replica, exchange, rules } = this.#options;
    const depth = Number(query.get("depth") ?? 10);
    if (!Number.isInteger(depth) || depth < 1 || depth > deepestBook) {
      throw new InvalidOrder("BAD_REQUEST", `depth must be an integer from 1 to ${deepestBook}`);
    }
    const { standing } = replica;
    if (!("term" in standing)) return { answer: notPrimary(leaderOf(standing)), outcome: "notPrimary" };
    const { term } = standing;
    if (!term.established || !(await term.proveLeadership())) {
      const why = "the standbys do not confirm that this replica leads";
      return { answer: answerOf({ kind: "cannotCommit", why }), outcome: "cannotCommit" };
    }
    const body = { epoch: term.epoch, ...bookBody(exchange, rules, depth) };
    return { answer: { status: 200, body }, outcome: "notFound" };
  }

  #failure(error: unknown): HttpAnswer {
    if (error instanceof InvalidOrder) return problem(400, error.code, error.message);
    if (error instanceof NoSuchRoute) return problem(404, "NO_SUCH_ROUTE", error.message);
    if (error instanceof BodyTooLong) return problem(413, "BODY_TOO_LONG", error.message);
    if (error instanceof URIError) return problem(400, "BAD_CLIENT_ID", error.message);
    this.#options.log.error("order request failed", { error: messageOf(error) });
    return problem(500, "INTERNAL", "the request failed; ask with GET by clientId");
  }

  #send(response: ServerResponse, { status, body }: HttpAnswer): void {
    const type = status === 200 ? "application/json" : "application/problem+json";
    response.writeHead(status, { "content-type": type, ...(this.#closing ? { connection: "close" } : {}) });
    response.end(JSON.stringify(body));
  }
}

interface Routed {
  readonly answer: HttpAnswer;
  readonly outcome: Parameters<EngineMetrics["answered"]>[0];
}

class NoSuchRoute extends Error {}

const leaderOf = (standing: Standing): Leader | null => {
  if (!("following" in standing) || standing.following === null) return null;
  return { instance: standing.following.link.target.instance, orders: standing.following.orders };
};
