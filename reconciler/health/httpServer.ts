import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
}

/** Answers by path; an unknown path is 404, and every method but GET and HEAD 405. */
export type Routes = Readonly<Record<string, () => Answer | Promise<Answer>>>;

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves a few read-only pages.
 * @param port 0 = any free one.
 * @throws {Error} when the port is taken.
 */
export async function serve(port: number, routes: Routes): Promise<HttpServer> {
  const answer = async (method: string | undefined, url: string | undefined): Promise<Answer> => {
    if (method !== "GET" && method !== "HEAD") return { status: 405, body: "only GET is answered here\n" };
    const route = routes[new URL(url ?? "/", "http://localhost").pathname];
    if (route === undefined) return { status: 404, body: `pages: ${Object.keys(routes).join(" ")}\n` };
    try {
      return await route();
    } catch (error) {
      return { status: 500, body: `${error instanceof Error ? error.message : String(error)}\n` };
    }
  };
  const server = createServer((request, response) => {
    void answer(request.method, request.url).then(({ status, contentType = "text/plain; charset=utf-8", body }) => {
      response.writeHead(status, { "content-type": contentType }).end(body);
    });
  });
  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(new Error(`port ${port} cannot be used: ${error.message}`, { cause: error })),
    );
    server.listen(port, () => resolve());
  });
