/**
 * A process that serves 10,000 Pods as an API server does, from bytes made beforehand, so that what is measured is the
 * client. Over TLS, which an API server always has, and a list piece by piece, as it does since 1.33: in one piece, Node.js
 * would encrypt all of it before it sends any. Tells its parent where it is, and sends changes to all watches when told so.
 */
import { X509Certificate } from "node:crypto";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "../../local/process/run.ts";
import { benchPod, podCount, sentAtAnnotation } from "./benchPod.ts";

/** What contenders must know of the server. */
export interface PodServer {
  readonly url: string;
  /** Certificate that vouches for it, in PEM. */
  readonly ca: string;
}

/** So many changes, once there are so many watches. */
export interface ChangeOrder {
  readonly changes: number;
  readonly watches: number;
}

const betweenChangesMs = 2;
const pieceBytes = 64 * 1024;

/** A key and a certificate that it signed itself, in one PEM. */
const newIdentity = (): Promise<string> => {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-keyout", "-"];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  return run("openssl", ["req", "-x509", ...subject, "-days", "1", ...key, "-out", "-"]);
};

const pods = Array.from({ length: podCount }, (_, i) => benchPod(i, String(i + 1)));
const list = Buffer.from(
  JSON.stringify({
    kind: "PodList",
    apiVersion: "v1",
    metadata: { resourceVersion: String(podCount) },
    // Lists of built-in kinds leave the kind of each item out.
    items: pods.map((pod) => ({ ...pod, apiVersion: undefined, kind: undefined })),
  }),
);
const one = Buffer.from(JSON.stringify(pods[0]));
const pieces = Array.from({ length: Math.ceil(list.length / pieceBytes) }, (_, i) =>
  list.subarray(i * pieceBytes, (i + 1) * pieceBytes),
);
const watches = new Set<ServerResponse>();

const identity = await newIdentity();
const server = createServer({ key: identity, cert: identity }, (request, response) => {
  const url = new URL(request.url ?? "/", "http://bench");
  response.writeHead(200, { "content-type": "application/json" });
  if (url.searchParams.has("watch")) {
    response.flushHeaders();
    watches.add(response);
    response.once("close", () => watches.delete(response));
    return;
  }
  if (!url.pathname.endsWith("/pods")) {
    response.end(one);
    return;
  }
  // A contender that goes away in the middle is its parent's business.
  pipeline(Readable.from(pieces), response).catch(() => undefined);
});

const sendChanges = async (order: ChangeOrder): Promise<void> => {
  while (watches.size < order.watches) await sleep(betweenChangesMs);
  for (let i = 0; i < order.changes; i++) {
    await sleep(betweenChangesMs);
    const pod = benchPod(i, String(podCount + 1 + i));
    pod.metadata.annotations[sentAtAnnotation] = String(process.hrtime.bigint());
    const line = `${JSON.stringify({ type: "MODIFIED", object: pod })}\n`;
    // Each is the first every other time.
    for (const watch of i % 2 === 0 ? watches : [...watches].reverse()) watch.write(line);
  }
};

process.on("message", (order: ChangeOrder) => void sendChanges(order));
server.listen(0, "127.0.0.1", () => {
  // A listening TCP server has a port; only one on a pipe would answer a string.
  const { port } = server.address() as AddressInfo;
  const ca = new X509Certificate(identity).toString();
  process.send?.({ url: `https://127.0.0.1:${port}`, ca } satisfies PodServer);
});
