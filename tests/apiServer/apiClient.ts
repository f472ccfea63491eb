/**
 * The smallest client that a test of the API itself needs: raw JSON in and out.
 */
import { readFile } from "node:fs/promises";
import { Agent, request } from "undici";

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

export type ApiMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Media types of a call; JSON unless given. */
export interface MediaTypes {
  /** Of what is sent. */
  readonly content?: string;
  /** Of the answer. */
  readonly accept?: string;
}

export interface ApiClient {
  /** A call with a deadline of 30 s; any HTTP status is an answer. */
  call(method: ApiMethod, path: string, body?: unknown, types?: MediaTypes): Promise<ApiAnswer>;
  close(): Promise<void>;
}

const callDeadlineMs = 30_000;
const json = "application/json";

export interface ApiAddress {
  readonly url: string;
  /** PEM file of the certificate that the server shows. */
  readonly caFile: string;
  readonly token: string;
}

const parseBody = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Health endpoints and some errors answer plain text.
    return text;
  }
};

/** Connects to an API server with keep-alive; `close` it at the end. */
export const connectApiClient = async ({ url, caFile, token }: ApiAddress): Promise<ApiClient> => {
  const agent = new Agent({ connect: { ca: await readFile(caFile) } });
  return {
    call: async (method, path, body, { content = json, accept = json } = {}) => {
      const answer = await request(`${url}${path}`, {
        dispatcher: agent,
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": content, accept },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(callDeadlineMs),
      });
      return { status: answer.statusCode, body: parseBody(await answer.body.text()) };
    },
    close: () => agent.destroy(),
  };
};
