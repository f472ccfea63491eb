import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import type { Exchange } from "../exchange/exchange.ts";
import type { TradingRules } from "../exchange/tradingRules.ts";
import type { EngineMetrics } from "../metrics/engineMetrics.ts";
import type { Clock } from "../process/clock.ts";
import type { ListenAddress } from "../process/config.ts";
import { BodyTooLong, readBody } from "../process/httpBody.ts";
import { listen } from "../process/listen.ts";
import { type Log, messageOf } from "../process/log.ts";
import { ask, type OrderDesk, type Question } from "../replica/orderDesk.ts";
import type { Replica } from "../replica/replica.ts";
import { answerOf, bookBody, type HttpAnswer, leaderOf, notPrimary, problem } from "./answers.ts";
import { InvalidOrder, parseAccount, parseClientId, parseOrder, parseReplace } from "./parseOrder.ts";
import { StreamServer } from "./stream/streamServer.ts";

export interface OrderServerOptions {
  readonly replica: Replica;
  readonly exchange: Exchange;
  readonly instance: string;
  /** Those that this replica leads an epoch with. */
  readonly rules: TradingRules;
  readonly metrics: EngineMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

const mostBodyBytes = 4_096;
const deepestBook = 1_000;

/** Order entry: single requests over HTTP, and streams for programs. */
export class OrderServer {
  readonly #options: OrderServerOptions;
  readonly #server: Server;
  readonly #streams: StreamServer;
  #closing = false;

  constructor(options: OrderServerOptions) {
    this.#options = options;
    this.#server = createServer(
      { noDelay: true, requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 60_000 },
      (request, response) => void this.#serve(request, response),
    );
    const { replica, instance, rules, clock, metrics } = options;
    const onAnswered = metrics.answered.bind(metrics);
    this.#streams = new StreamServer({ replica, instance, rules, clock, onAnswered });
    this.#server.on("upgrade", (request, socket, head) => this.#streams.upgrade(request, socket, head));
  }

  listen(address: ListenAddress): Promise<ListenAddress> {
    return listen(this.#server, address, "TE_ORDER_ADDR");
  }

  /** The replica's standing has changed. */
  noticeStanding(): void {
    this.#streams.noticeStanding();
  }

  /** To be called at every heartbeat. */
  tick(): void {
    this.#streams.tick();
  }

  /** From now on every answer asks the client to go elsewhere for its next request, and streams end. */
  windDown(): void {
    this.#closing = true;
    this.#streams.windDown();
  }

  /** Resolves once the answers under way are sent. */
  close(): Promise<void> {
    this.windDown();
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
    const { rules } = this.#options;
    if (url.pathname === "/v1/book" && method === "GET") return this.#book(url.searchParams);
    if (url.pathname === "/v1/orders" && method === "POST") {
      const text = await readBody(request, mostBodyBytes);
      const order = parseOrder(text, rules);
      return this.#atDesk((desk, question) => desk.place(order, rules, question));
    }
    const id = /^\/v1\/orders\/([^/]+)$/.exec(url.pathname)?.[1];
    if (id === undefined) throw new NoSuchRoute(`there is no ${method} ${url.pathname}`);
    const clientId = parseClientId(decodeURIComponent(id));
    const account = parseAccount(url.searchParams.get("account"));
    switch (method) {
      case "GET":
        return this.#atDesk((desk, question) => desk.find({ account, clientId }, question));
      case "DELETE":
        return this.#atDesk((desk, question) => desk.cancel({ kind: "cancel", account, clientId }, question));
      case "PUT": {
        const replacement = parseReplace(await readBody(request, mostBodyBytes), clientId, rules);
        return this.#atDesk((desk, question) => desk.place(replacement, rules, question));
      }
      default:
        throw new NoSuchRoute(`there is no ${method} ${url.pathname}`);
    }
  }

  async #atDesk(put: (desk: OrderDesk, question: Question) => void): Promise<Routed> {
    const { standing } = this.#options.replica;
    if (!("desk" in standing)) return { answer: notPrimary(leaderOf(standing)), outcome: "notPrimary" };
    const { desk } = standing;
    const outcome = await ask(this.#options.clock(), (question) => put(desk, question));
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
