/** A control listener for tests: answers what it is told to, and can fail in the ways that real ones do. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface ContractServer {
  /** host:port. */
  readonly address: string;
  readonly requests: readonly {
    readonly method: string;
    readonly path: string;
    readonly body: string;
    readonly token: string;
  }[];
  /** Cuts all connections without a word, as the kernel does for a killed process. */
  cut(): void;
  /** Ends the process's part: nobody listens any more. */
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export const serveContract = async (test: TestContext, handler: Handler, port = 0): Promise<ContractServer> => {
  const requests: { method: string; path: string; body: string; token: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const { method = "", url = "", headers } = request;
      requests.push({ method, path: url, body, token: headers.authorization ?? "" });
      handler(request, response, body);
    });
  });
  await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  const cut = (): void => server.closeAllConnections();
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      cut();
    });
  test.after(close);
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests, cut, close };
};

export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};

/** Opens a stream and sends lines; it stays open. */
export const sendLines = (response: ServerResponse, ...lines: readonly unknown[]): void => {
  if (!response.headersSent) response.writeHead(200, { "content-type": "application/x-ndjson" });
  for (const line of lines) response.write(`${JSON.stringify(line)}\n`);
};
