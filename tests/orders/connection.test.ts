import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, describe, it } from "node:test";
import { HttpConnection } from "./connection.ts";
import { FakeReplicas } from "./fakeReplicas.ts";
import { rememberingLookup } from "./rememberingLookup.ts";

const options = { connectTimeoutMs: 1000, attemptTimeoutMs: 150, lookup: rememberingLookup() };
const order = (clientId: string) => JSON.stringify({ clientId, type: "market", side: "buy", quantity: "1" });

describe("HttpConnection", async () => {
  const replicas = await FakeReplicas.start(2);
  after(() => replicas.close());
  const [primary = "", standby = ""] = replicas.addresses;

  it("carries an acknowledgement and a redirect", async () => {
    const connection = new HttpConnection(options);
    const acked = await connection.send(primary, order("c-1"));
    assert.deepEqual(acked, { kind: "acked", ack: { epoch: 1, seq: 1, orderId: "o-1", duplicate: false } });
    assert.deepEqual(await connection.send(standby, order("c-2")), { kind: "redirected", leader: primary });
    connection.close();
  });

  it("keeps one connection for many orders and opens another after drop", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.on("data", () => socket.write("HTTP/1.1 503 x\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n"));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const connection = new HttpConnection(options);
    for (let n = 0; n < 5; n++) await connection.send(target, order(`c-${n}`));
    assert.equal(sockets.length, 1);
    connection.drop(target);
    await connection.send(target, order("c-9"));
    assert.equal(sockets.length, 2);
    connection.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it("gives up an attempt that is not answered in time", async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const connection = new HttpConnection(options);
    const reply = await connection.send(`127.0.0.1:${(silent.address() as AddressInfo).port}`, order("c-3"));
    assert.deepEqual(reply, { kind: "unresolved", reason: "no answer in time" });
    connection.close();
    silent.close();
  });

  it("reports a refused connection as unresolved", async () => {
    const gone = createServer();
    gone.listen(0, "127.0.0.1");
    await once(gone, "listening");
    const target = `127.0.0.1:${(gone.address() as AddressInfo).port}`;
    gone.close();
    await once(gone, "close");
    const connection = new HttpConnection(options);
    const reply = await connection.send(target, order("c-4"));
    assert.ok(reply.kind === "unresolved");
    assert.match(reply.reason, /ECONNREFUSED/);
    connection.close();
  });
});
