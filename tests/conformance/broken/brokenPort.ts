import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { type BrokenPlace, type Call, type Doctor, isReply, type Reply } from "./doctor.ts";

export interface BrokenPortOptions {
  readonly port: "control" | "orders";
  /** host:port to listen on. */
  readonly address: string;
  /** Port of the sound engine on loopback. */
  readonly innerPort: number;
  readonly doctor: Doctor;
  readonly place: BrokenPlace;
}

/** Listens in the engine's place, and passes on what `doctor` makes of calls and answers. */
export const openBrokenPort = async (options: BrokenPortOptions): Promise<void> => {
  const server = createServer((request, response) => {
    serve(options, request, response).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.destroy();
    });
  });
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(options.address) ?? [];
  server.listen(Number(port), host);
  await once(server, "listening");
};

const serve = async (options: BrokenPortOptions, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const call = await readCall(request);
  if (call.path === "/v1/status/stream") return passStream(options, call, response);
  const doctor = options.doctor[options.port];
  const taken = (await doctor?.call?.(call, options.place)) ?? call;
  const sound = isReply(taken) ? taken : await forward(options.innerPort, taken);
  const told = (await doctor?.reply?.(sound, call, options.place)) ?? sound;
  response.writeHead(told.status, { "content-type": told.type });
  response.end(told.body);
};

const readCall = async (request: IncomingMessage): Promise<Call> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { pathname, search } = new URL(request.url ?? "/", "http://engine");
  return {
    method: request.method ?? "",
    path: pathname,
    query: search,
    authorization: request.headers.authorization,
    body: Buffer.concat(chunks).toString("utf8"),
  };
};

const send = ({ method, path, query, authorization, body }: Call, innerPort: number, signal?: AbortSignal) =>
  fetch(`http://127.0.0.1:${innerPort}${path}${query}`, {
    method,
    headers: authorization === undefined ? {} : { authorization },
    ...(body === "" ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });

const forward = async (innerPort: number, call: Call): Promise<Reply> => {
  const response = await send(call, innerPort);
  return { status: response.status, type: response.headers.get("content-type") ?? "", body: await response.text() };
};

const passStream = async (options: BrokenPortOptions, call: Call, response: ServerResponse): Promise<void> => {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const taken = (await options.doctor.control?.call?.(call, options.place)) ?? call;
  if (isReply(taken)) throw new Error("a stream is passed on");
  try {
    const source = await send(taken, options.innerPort, gone.signal);
    response.writeHead(source.status, { "content-type": source.headers.get("content-type") ?? "" });
    let rest = "";
    for await (const chunk of source.body ?? []) {
      const lines = (rest + Buffer.from(chunk).toString("utf8")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const told = options.doctor.line === undefined ? line : options.doctor.line(line);
        if (told !== null) response.write(`${told}\n`);
      }
    }
    response.end(rest);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
};
