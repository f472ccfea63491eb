import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Ack } from "./ackLog.ts";
import { createControlServer } from "./controlServer.ts";
import { FakeReplicas } from "./fakeReplicas.ts";
import { defaultOptions, type OrderClient, type OrderClientSummary, startOrderClient } from "./orderClient.ts";
import { replicaHistory } from "./replicaHistory.ts";

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("the order client's control port", () => {
  let replicas: FakeReplicas;
  let client: OrderClient;
  let folder: string;
  let base: string;
  const servers: Server[] = [];

  before(async () => {
    replicas = await FakeReplicas.start(1);
    folder = await mkdtemp(join(tmpdir(), "orders-"));
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, "secret\n");
    const replicaControl = createServer((request, response) => {
      if (request.headers.authorization !== "Bearer secret") {
        response.writeHead(401).end();
        return;
      }
      response.setHeader("content-type", "application/x-ndjson");
      response.end(`${JSON.stringify({ asked: request.url })}\n`);
    });
    const endpoint = { instance: "e-0", address: await listen(replicaControl) };
    const gone = { instance: "e-1", address: "127.0.0.1:1" };
    client = startOrderClient({
      ...defaultOptions,
      destination: { kind: "replicas", targets: replicas.addresses },
      run: "t",
    });
    const control = createControlServer(client, replicaHistory([endpoint, gone], tokenFile));
    base = `http://${await listen(control)}`;
    servers.push(replicaControl, control);
  });
  after(async () => {
    await client.stop(0);
    replicas.close();
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    await rm(folder, { recursive: true });
  });

  it("is healthy", async () => {
    assert.equal((await fetch(`${base}/healthz`)).status, 200);
  });

  it("passes a journal on, with the token of the replica's control API", async () => {
    const answer = await fetch(`${base}/journal/e-0?fromSeq=7`);
    assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
    assert.deepEqual(await answer.json(), { asked: "/v1/journal?fromSeq=7" });
  });

  it("passes a status on", async () => {
    assert.deepEqual(await (await fetch(`${base}/status/e-0`)).json(), { asked: "/v1/status" });
  });

  const mistakes = [
    { path: "/journal/e-7", status: 404, says: /no control address is known for \\"e-7\\"/ },
    { path: "/journal/e-1", status: 502, says: /ECONNREFUSED/ },
    { path: "/nothing", status: 404, says: /there is no GET \/nothing/ },
  ];
  for (const { path, status, says } of mistakes) {
    it(`answers ${status} to ${path}`, async () => {
      const answer = await fetch(`${base}${path}`);
      assert.equal(answer.status, status);
      assert.match(await answer.text(), says);
    });
  }

  it("stops, and then gives a summary and acknowledgements that agree", async () => {
    const stopped = (await (await fetch(`${base}/stop`, { method: "POST" })).json()) as OrderClientSummary;
    const summary = (await (await fetch(`${base}/summary`)).json()) as OrderClientSummary;
    assert.equal(stopped.state, "stopped");
    assert.equal(summary.acked, stopped.acked);
    const lines = (await (await fetch(`${base}/acks`)).text()).trim().split("\n").filter(Boolean);
    const acks = lines.map((line) => JSON.parse(line) as Ack);
    assert.equal(new Set(acks.map((ack) => ack.clientId)).size, summary.acked);
    assert.deepEqual(acks, [...client.acks()]);
  });
});
