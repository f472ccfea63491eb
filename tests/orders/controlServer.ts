import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Ack } from "./ackLog.ts";
import type { OrderClient } from "./orderClient.ts";
import type { ReplicaAnswer, ReplicaHistory } from "./replicaHistory.ts";

/** POST /stop waits this long for outstanding orders unless ?deadlineMs= says otherwise. */
const defaultStopDeadlineMs = 30_000;

/**
 * The client's own control port:
 *
 * - GET /healthz
 * - GET /summary: counts, rates, epochs so far
 * - GET /acks: every acknowledgement as NDJSON, oldest first
 * - POST /stop?deadlineMs=: send nothing new, resolve what is outstanding, answer the final summary
 * - GET /journal/{instance}?fromSeq= and GET /status/{instance}: passed on to that replica's control API
 */
export function createControlServer(client: OrderClient, history: ReplicaHistory): Server {
  return createServer((request, response) => {
    answer(client, history, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendProblem(response, 502, error instanceof Error ? error.message : String(error));
    });
  });
}

async function answer(
  client: OrderClient,
  history: ReplicaHistory,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://client");
  const [, call = "", instance = ""] = url.pathname.split("/");
  const numberFrom = (name: string, byDefault: number) => Number(url.searchParams.get(name) ?? byDefault);
  switch (`${request.method ?? ""} ${call}`) {
    case "GET healthz":
      response.end("ok\n");
      return;
    case "GET summary":
      sendJson(response, client.summary());
      return;
    case "POST stop":
      sendJson(response, await client.stop(numberFrom("deadlineMs", defaultStopDeadlineMs)));
      return;
    case "GET acks":
      response.setHeader("content-type", "application/x-ndjson");
      await pipeline(Readable.from(ndjson(client.acks())), response);
      return;
    case "GET journal":
      await pass(instance, await history.journal(instance, numberFrom("fromSeq", 1)), response);
      return;
    case "GET status":
      await pass(instance, await history.status(instance), response);
      return;
    default:
      sendProblem(response, 404, `there is no ${request.method ?? ""} ${url.pathname}`);
  }
}

/** In pieces of some 100 lines: a piece for each line would cost more than the lines do. */
function* ndjson(acks: Iterable<Ack>): Generator<string> {
  let lines: string[] = [];
  for (const ack of acks) {
    lines.push(`${JSON.stringify(ack)}\n`);
    if (lines.length < 100) continue;
    yield lines.join("");
    lines = [];
  }
  yield lines.join("");
}

async function pass(instance: string, answer: ReplicaAnswer | null, response: ServerResponse): Promise<void> {
  if (answer === null) {
    sendProblem(response, 404, `no control address is known for "${instance}": name it in ORDERS_CONTROL`);
    return;
  }
  response.writeHead(answer.status, { "content-type": answer.contentType });
  await pipeline(answer.body, response);
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}

function sendProblem(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { "content-type": "application/problem+json" });
  response.end(JSON.stringify({ status, detail }));
}
