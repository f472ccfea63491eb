import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { request } from "undici";
import type { ControlEndpoint } from "./config.ts";

/** What a replica answered; `body` must be read or destroyed. */
export interface ReplicaAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Readable;
}

/** Reads what the replicas know of their history, with the control token that only pods of the engine's namespace can mount. */
export interface ReplicaHistory {
  /** NDJSON of the durable records from `fromSeq` on; null for an instance that nobody named. */
  journal(instance: string, fromSeq: number): Promise<ReplicaAnswer | null>;
  /** GET /v1/status of a replica; null for an instance that nobody named. */
  status(instance: string): Promise<ReplicaAnswer | null>;
}

/** Until the first byte of an answer, and between two pieces of a journal. */
const silenceMs = 10_000;

/** The token is read anew for each call: a Secret's file changes when the token does. */
export function replicaHistory(endpoints: readonly ControlEndpoint[], tokenFile: string | null): ReplicaHistory {
  const addresses = new Map(endpoints.map(({ instance, address }) => [instance, address]));

  async function get(instance: string, path: string): Promise<ReplicaAnswer | null> {
    const address = addresses.get(instance);
    if (address === undefined) return null;
    const token = tokenFile === null ? null : (await readFile(tokenFile, "utf8")).trim();
    const response = await request(`http://${address}${path}`, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
    });
    const contentType = response.headers["content-type"];
    return {
      status: response.statusCode,
      contentType: typeof contentType === "string" ? contentType : "application/octet-stream",
      body: response.body,
    };
  }

  return {
    journal: (instance, fromSeq) => get(instance, `/v1/journal?fromSeq=${fromSeq}`),
    status: (instance) => get(instance, "/v1/status"),
  };
}
