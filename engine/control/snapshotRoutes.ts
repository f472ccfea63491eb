import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { isErrno } from "../process/exit.ts";
import { Refusal } from "../replica/refusal.ts";
import { idOf, type Manifest, parseManifest } from "../snapshots/manifest.ts";
import { snapshotsDir, stateFile } from "../snapshots/snapshotStore.ts";
import type { EngineStatus } from "./status.ts";

/** GET /v1/snapshots and what is below it: read from the disk by the control thread, so that matching carries none of it. */
export class SnapshotRoutes {
  readonly #dir: string;
  readonly #status: () => EngineStatus;

  constructor(dataDir: string, status: () => EngineStatus) {
    this.#dir = snapshotsDir(dataDir);
    this.#status = status;
  }

  async list(response: ServerResponse): Promise<void> {
    const { ids, taking, warning } = this.#status().snapshots;
    const manifests = await Promise.all(ids.map((id) => this.#manifest(id)));
    const snapshots = manifests.map((manifest) => ({ id: idOf(manifest), ...manifest }));
    answer(response, { snapshots, taking, warning });
  }

  async one(id: string, response: ServerResponse): Promise<void> {
    const { taking } = this.#status().snapshots;
    if (taking?.id === id) answer(response, { id, state: "taking", bytes: taking.bytes });
    else answer(response, { id, state: "ready", manifest: await this.#manifest(id) });
  }

  async #manifest(id: string): Promise<Manifest> {
    let text: string;
    try {
      text = await readFile(join(this.#dir, `${id}.json`), "utf8");
    } catch (error) {
      if (isErrno(error) && error.code === "ENOENT") throw new Refusal("NOT_FOUND", `there is no snapshot ${id} here`);
      throw error;
    }
    const manifest = parseManifest(JSON.parse(text));
    if (manifest === null) throw new Refusal("INTERNAL", `the manifest of snapshot ${id} is damaged`);
    return manifest;
  }

  /** The file as it is, or from a byte on: the reader checks it against the manifest. */
  async data(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const manifest = await this.#manifest(id);
    const { bytes, sha256 } = manifest;
    const range = rangeOf(request.headers.range, bytes);
    const headers = { "content-type": "application/octet-stream", "accept-ranges": "bytes", etag: `"${sha256}"` };
    if (range === null) response.writeHead(200, { ...headers, "content-length": bytes });
    else {
      const [first, last] = range;
      const part = { "content-range": `bytes ${first}-${last}/${bytes}`, "content-length": last - first + 1 };
      response.writeHead(206, { ...headers, ...part });
    }
    const [start, end] = range ?? [0, bytes - 1];
    // A reader that goes away in the middle is no failure of ours.
    await pipeline(createReadStream(stateFile(this.#dir, idOf(manifest)), { start, end }), response).catch(() =>
      response.destroy(),
    );
  }
}

/** First and last byte that are asked for; null for all. One range only: nobody needs several of a snapshot. */
const rangeOf = (header: string | undefined, bytes: number): readonly [number, number] | null => {
  const [, from, to] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (from === undefined) return null;
  const first = Number(from);
  const last = to === undefined || to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (first >= bytes || last < first) throw new Refusal("RANGE_NOT_SATISFIABLE", `the snapshot has ${bytes} bytes`);
  return [first, last];
};

const answer = (response: ServerResponse, body: object): void => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};
