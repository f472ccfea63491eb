import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";

import { readJournal } from "../journal/journalReader.ts";
import type { JournalRecord } from "../journal/record.ts";
import type { ListenAddress } from "../process/config.ts";
import { readBody } from "../process/httpBody.ts";
import { listen } from "../process/listen.ts";
import { messageOf } from "../process/log.ts";
import { type ProblemBody, problemOf, Refusal } from "../replica/refusal.ts";
import { sameSecret } from "../replication/replicationServer.ts";
import { nodeDisk } from "../storage/nodeDisk.ts";
import type { MainThreadClient } from "./mainThreadClient.ts";
import type { Answer, ControlThreadData, HashAnswer } from "./messages.ts";
import { isPrimary, isStandby, livez, type ProbeAnswer, readyz, startupz } from "./probes.ts";
import { type CallName, parseCall } from "./requestBodies.ts";
import { SnapshotRoutes } from "./snapshotRoutes.ts";
import type { EngineStatus } from "./status.ts";
import { StatusStream } from "./statusStream.ts";

const mostBodyBytes = 64 * 1024;
const callDeadlineMs = 10_000;
const queryDeadlineMs = 2_000;
const hashDeadlineMs = 5_000;
const hashPollMs = 5;

const calls: ReadonlyMap<string, CallName> = new Map([
  ["POST /v1/fence", "fence"],
  ["POST /v1/promote", "promote"],
  ["POST /v1/follow", "follow"],
  ["POST /v1/demote", "demote"],
  ["PUT /v1/members", "members"],
  ["POST /v1/grant", "grant"],
  ["POST /v1/drain", "drain"],
  ["DELETE /v1/drain", "undrain"],
  ["POST /v1/snapshots", "snapshot"],
]);

export interface ControlServerOptions extends ControlThreadData {
  readonly main: MainThreadClient;
  readonly status: () => EngineStatus;
}

/** The control API over HTTP. Runs beside the matching, so that it answers however busy that is. */
export class ControlServer {
  readonly #options: ControlServerOptions;
  readonly #server: Server;
  readonly #stream: StatusStream;
  readonly #snapshots: SnapshotRoutes;

  constructor(options: ControlServerOptions) {
    this.#options = options;
    this.#stream = new StatusStream(options.status);
    this.#snapshots = new SnapshotRoutes(options.dataDir, options.status);
    this.#server = createServer(
      { requestTimeout: 10_000, headersTimeout: 5_000, noDelay: true },
      (request, response) => {
        void this.#serve(request, response);
      },
    );
  }

  listen(): Promise<ListenAddress> {
    return listen(this.#server, this.#options.address, "TE_CONTROL_ADDR");
  }

  /** The status may have changed. */
  noticeStatus(): void {
    this.#stream.notice();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url ?? "/", "http://engine");
      await this.#route(`${request.method ?? ""} ${url.pathname}`, url.searchParams, request, response);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal("INTERNAL", messageOf(error));
      sendProblem(response, problemOf(refusal));
    }
  }

  async #route(
    route: string,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const probe = this.#probe(route, query);
    if (probe !== null) {
      sendJson(response, probe.ok ? 200 : 503, probe);
      return;
    }
    if (route === "GET /metrics") return this.#metrics(response);
    this.#authorize(request);
    const call = calls.get(route);
    if (call !== undefined) return this.#call(call, request, response);
    const id = /(?<=^GET \/v1\/snapshots\/)\d{1,16}-\d{1,16}(?=$|\/)/.exec(route)?.[0] ?? "";
    switch (id === "" ? route : route.replace(id, "{id}")) {
      case "GET /v1/snapshots":
        return this.#snapshots.list(response);
      case "GET /v1/snapshots/{id}":
        return this.#snapshots.one(id, response);
      case "GET /v1/snapshots/{id}/data":
        return this.#snapshots.data(id, request, response);
      case "GET /v1/status": {
        sendJson(response, 200, this.#options.status());
        return;
      }
      case "GET /v1/status/stream": {
        this.#stream.add(response, integerParameter(query, "heartbeatMs", 200, 10, 60_000));
        return;
      }
      case "GET /v1/hash":
        return this.#hash(integerParameter(query, "seq", null, 1), response);
      case "GET /v1/journal":
        return this.#journal(query.has("fromSeq") ? integerParameter(query, "fromSeq", null, 1) : null, response);
      default:
        throw new Refusal("NOT_FOUND", `there is no ${route}`);
    }
  }

  #probe(route: string, query: URLSearchParams): ProbeAnswer | null {
    switch (route) {
      case "GET /livez":
        return livez(this.#options.status());
      case "GET /startupz":
        return startupz(this.#options.status());
      case "GET /readyz":
        return readyz(this.#options.status());
      case "GET /v1/primary":
        return isPrimary(this.#options.status());
      case "GET /v1/standby":
        return isStandby(this.#options.status(), {
          maxLagRecords: query.has("maxLagRecords") ? integerParameter(query, "maxLagRecords", null, 0) : null,
          maxLagMs: query.has("maxLagMs") ? integerParameter(query, "maxLagMs", null, 0) : null,
        });
      default:
        return null;
    }
  }

  #authorize(request: IncomingMessage): void {
    const given = request.headers.authorization ?? "";
    if (sameSecret(given, `Bearer ${this.#options.token}`)) return;
    throw new Refusal("UNAUTHORIZED", "send the control token as Authorization: Bearer TOKEN");
  }

  async #call(name: CallName, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = parseCall(name, parseJson(await readBody(request, mostBodyBytes)));
    if (call.args.clusterUid !== this.#options.clusterUid) {
      throw new Refusal("WRONG_CLUSTER", `this replica belongs to ${this.#options.clusterUid}`);
    }
    const extraMs = "deadlineMs" in call.args ? (call.args.deadlineMs ?? 0) : 0;
    const answer = await this.#options.main.call(call, callDeadlineMs + extraMs);
    sendAnswer(response, answer, call.name === "snapshot" ? 202 : 200);
  }

  async #metrics(response: ServerResponse): Promise<void> {
    const answer = await this.#options.main.query({ name: "metrics" }, queryDeadlineMs);
    if (!answer.ok) {
      sendProblem(response, answer.problem);
      return;
    }
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(String(answer.body));
  }

  /** Waits until record `seq` is applied. */
  async #hash(seq: number, response: ServerResponse): Promise<void> {
    for (let waitedMs = 0; waitedMs < hashDeadlineMs; waitedMs += hashPollMs) {
      const answer = await this.#options.main.query({ name: "hash", seq }, queryDeadlineMs);
      if (!answer.ok) {
        sendProblem(response, answer.problem);
        return;
      }
      // The main thread answers a hash query with nothing else.
      const found = answer.body as HashAnswer;
      if (found.kind === "hash") {
        sendJson(response, 200, { seq, hash: found.hash });
        return;
      }
      if (found.kind === "gone") {
        throw new Refusal("GONE", `the hash of record ${seq} is not kept any more`);
      }
      await new Promise((resolve) => setTimeout(resolve, hashPollMs));
    }
    throw new Refusal("PENDING", `record ${seq} was not applied within ${hashDeadlineMs} ms`);
  }

  /** From record `fromSeq`, or from the first that is there. */
  async #journal(fromSeq: number | null, response: ServerResponse): Promise<void> {
    const { firstSeq } = this.#options.status().journal;
    if (fromSeq !== null && fromSeq < firstSeq) {
      throw new Refusal("GONE", `the journal begins at record ${firstSeq}; what comes before is in a snapshot only`);
    }
    const answer = await this.#options.main.query({ name: "journalEnd" }, queryDeadlineMs);
    if (!answer.ok) {
      sendProblem(response, answer.problem);
      return;
    }
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    for await (const batch of readJournal(
      nodeDisk,
      join(this.#options.dataDir, "journal"),
      fromSeq ?? Math.max(firstSeq, 1),
      Number(answer.body),
    )) {
      const open = response.write(batch.records.map(journalLine).join(""));
      if (!open && !response.destroyed)
        await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
      if (response.destroyed) return;
    }
    response.end();
  }
}

const journalLine = ({ epoch, seq, command }: JournalRecord): string => {
  const line = { epoch, seq, type: command.kind };
  if (command.kind === "epochStart") return `${JSON.stringify(line)}\n`;
  const order = command.kind === "cancel" ? {} : { orderId: `${epoch}-${seq}` };
  const account = command.account === "" ? {} : { account: command.account };
  return `${JSON.stringify({ ...line, ...account, clientId: command.clientId, ...order })}\n`;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal("BAD_REQUEST", `the body is not JSON: ${messageOf(error)}`);
  }
};

const integerParameter = (
  query: URLSearchParams,
  name: string,
  fallback: number | null,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number => {
  const text = query.get(name);
  if (text === null && fallback !== null) return fallback;
  const value = Number(text);
  if (text !== null && /^\d{1,16}$/.test(text) && value >= min && value <= max) return value;
  throw new Refusal("BAD_REQUEST", `${name} must be an integer from ${min} to ${max}`);
};

const sendAnswer = (response: ServerResponse, answer: Answer, status: number): void => {
  if (answer.ok) sendJson(response, status, answer.body);
  else sendProblem(response, answer.problem);
};

const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

const sendProblem = (response: ServerResponse, problem: ProblemBody): void => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(problem.status, { "content-type": "application/problem+json" });
  response.end(JSON.stringify(problem));
};
