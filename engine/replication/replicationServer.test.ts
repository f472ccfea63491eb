import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it, type TestContext } from "node:test";

import { createLog } from "../process/log.ts";
import { encodeMessage, type Frame, FrameReader } from "./frames.ts";
import type { Hello } from "./handshake.ts";
import { type FollowerSession, ReplicationServer } from "./replicationServer.ts";
import { tcpNetwork } from "./tcpNetwork.ts";

const hello: Hello = {
  token: "secret",
  clusterUid: "trading/btc-usdt",
  instance: "btc-usdt-1",
  epoch: 1,
  promised: 1,
  history: { entries: [], end: 0 },
};

const start = async (test: TestContext, session: FollowerSession) => {
  const accepted: Hello[] = [];
  const server = new ReplicationServer({
    network: tcpNetwork,
    token: "secret",
    clusterUid: "trading/btc-usdt",
    log: createLog({}, () => undefined),
    accept: (each) => {
      accepted.push(each);
      return session;
    },
  });
  const address = await server.listen({ host: "127.0.0.1", port: 0 });
  test.after(() => server.close());
  return { accepted, port: address.port };
};

/** What the server answers to `bytes` before it closes the connection. */
const answerTo = async (port: number, bytes: Buffer): Promise<Frame[]> => {
  const socket = connect(port, "127.0.0.1");
  const reader = new FrameReader();
  const frames: Frame[] = [];
  socket.on("data", (chunk) => frames.push(...reader.push(chunk)));
  socket.write(bytes);
  await once(socket, "close");
  return frames;
};

describe("the replication listener", () => {
  const refusals: readonly [string, Buffer, string][] = [
    ["a wrong token", encodeMessage("hello", { ...hello, token: "guess" }), "UNAUTHORIZED"],
    ["no hello", encodeMessage("welcome", {}), "UNAUTHORIZED"],
    ["a hello that cannot be read", encodeMessage("hello", { token: "secret" }), "UNAUTHORIZED"],
    ["a replica of another engine", encodeMessage("hello", { ...hello, clusterUid: "trading/eth" }), "WRONG_CLUSTER"],
  ];
  for (const [what, bytes, code] of refusals) {
    it(`refuses ${what} and lets nothing of it through`, async (test) => {
      const { port, accepted } = await start(test, { receive: () => undefined });
      const [frame] = await answerTo(port, bytes);
      assert.ok(frame?.type === "refused");
      assert.equal((frame.body as { code: string }).code, code);
      assert.deepEqual(accepted, []);
    });
  }

  it("hands what follows a good hello to the session", async (test) => {
    const received: Frame[] = [];
    const { port, accepted } = await start(test, {
      receive: (frame) => {
        received.push(frame);
        throw new Error("seen enough");
      },
    });
    await answerTo(port, Buffer.concat([encodeMessage("hello", hello), encodeMessage("refused", {})]));
    assert.deepEqual(accepted, [hello]);
    assert.deepEqual(received, [{ type: "refused", body: {} }]);
  });

  it("drops a connection that speaks another protocol", async (test) => {
    const { port } = await start(test, { receive: () => undefined });
    assert.deepEqual(await answerTo(port, Buffer.from("GET / HTTP/1.1\r\n\r\n")), []);
  });
});
