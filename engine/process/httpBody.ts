import type { IncomingMessage } from "node:http";

/** The request's body is longer than allowed. */
export class BodyTooLong extends Error {
  constructor(maxBytes: number) {
    super(`the body must have at most ${maxBytes} bytes`);
    this.name = "BodyTooLong";
  }
}

/** Reads a request's body as text. The server's own request timeout bounds the time. */
export const readBody = (request: IncomingMessage, maxBytes: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
    });
    request.on("end", () => {
      if (length > maxBytes) reject(new BodyTooLong(maxBytes));
      else resolve(Buffer.concat(chunks).toString("utf8"));
    });
    request.on("error", reject);
  });
