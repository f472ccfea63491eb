import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type Handler, sendJson, serveContract } from "../testing/contractServer.ts";
import { createEngineClient, type EngineClient, EngineRefusal, type EngineTarget, EngineUnanswered } from "./index.ts";

const identity = { clusterUid: "trading/te", epoch: 4, opId: "op-1" };
const fenced = {
  instance: "te-1",
  promised: 4,
  durable: { epoch: 3, seq: 100 },
  blank: false,
  wasPrimary: false,
  primaryEpoch: 0,
};
const deadlineMs = 5_000;

const startPair = async (test: TestContext, handler: Handler) => {
  const server = await serveContract(test, handler);
  const client: EngineClient = createEngineClient();
  test.after(() => client.close());
  const target: EngineTarget = { control: server.address, token: "secret" };
  return { server, client, target };
};

const unansweredBy = (end: string) => (error: unknown) => {
  assert.ok(error instanceof EngineUnanswered, String(error));
  assert.equal(error.end, end);
  return true;
};

describe("a call to an engine", () => {
  it("sends the token and the identity of the call, and gives the parsed answer", async (test) => {
    const { server, client, target } = await startPair(test, (_, response) => sendJson(response, 200, fenced));
    assert.deepEqual(await client.fence(target, identity, deadlineMs), fenced);
    const [request] = server.requests;
    assert.equal(request?.path, "/v1/fence");
    assert.equal(request.token, "Bearer secret");
    assert.deepEqual(JSON.parse(request.body), identity);
  });

  const calls: readonly [string, string, object, (client: EngineClient, target: EngineTarget) => Promise<unknown>][] = [
    [
      "POST",
      "/v1/promote",
      { instance: "te-1", epoch: 4, durable: { epoch: 4, seq: 101 } },
      (client, target) =>
        client.promote(
          target,
          { ...identity, minPosition: fenced.durable, members: ["te-2"], k: 1, resume: "open" },
          deadlineMs,
        ),
    ],
    [
      "POST",
      "/v1/follow",
      { instance: "te-1", epoch: 4, durable: { epoch: 4, seq: 101 } },
      (client, target) =>
        client.follow(
          target,
          { ...identity, upstream: { instance: "te-2", replication: "h:1", orders: "h:2" } },
          deadlineMs,
        ),
    ],
    [
      "POST",
      "/v1/demote",
      { instance: "te-1", final: { epoch: 3, seq: 100 } },
      (client, target) => client.demote(target, { ...identity, deadlineMs: 100 }, deadlineMs),
    ],
    [
      "PUT",
      "/v1/members",
      { instance: "te-1", version: 2, committed: 100 },
      (client, target) => client.setMembers(target, { ...identity, version: 2, members: ["te-2"], k: 1 }, deadlineMs),
    ],
  ];
  for (const [method, path, answer, call] of calls)
    it(`${method} ${path} gives its answer`, async (test) => {
      const { server, client, target } = await startPair(test, (_, response) => sendJson(response, 200, answer));
      assert.deepEqual(await call(client, target), answer);
      assert.deepEqual([server.requests[0]?.method, server.requests[0]?.path], [method, path]);
    });

  it("uses few connections for many calls", async (test) => {
    const ports = new Set<number | undefined>();
    const { client, target } = await startPair(test, (request, response) => {
      ports.add(request.socket.remotePort);
      sendJson(response, 200, fenced);
    });
    for (let count = 0; count < 20; count += 1) await client.fence(target, identity, deadlineMs);
    assert.ok(ports.size <= 4, `${ports.size} connections`);
  });

  it("that is refused says why, and that nothing changed", async (test) => {
    const problem = { type: "about:blank", title: "stale epoch", status: 409, code: "STALE_EPOCH", promised: 9 };
    const { client, target } = await startPair(test, (_, response) => sendJson(response, 409, problem));
    await assert.rejects(client.fence(target, identity, deadlineMs), (error: unknown) => {
      assert.ok(error instanceof EngineRefusal);
      assert.equal(error.problem.code, "STALE_EPOCH");
      assert.equal(error.problem.promised, 9);
      return true;
    });
  });

  it("is unanswered when nobody listens", async (test) => {
    const { server, client, target } = await startPair(test, () => undefined);
    await server.close();
    await assert.rejects(client.fence(target, identity, deadlineMs), unansweredBy("refused"));
  });

  it("is unanswered when its deadline passes", async (test) => {
    const { client, target } = await startPair(test, () => undefined);
    await assert.rejects(client.fence(target, identity, 50), unansweredBy("timeout"));
  });

  for (const [what, status, body] of [
    ["is not of the contract", 200, { instance: "te-1" }],
    ["is an error without a problem document", 502, { message: "bad gateway" }],
  ] as const)
    it(`is unanswered when the answer ${what}`, async (test) => {
      const { client, target } = await startPair(test, (_, response) => sendJson(response, status, body));
      await assert.rejects(client.fence(target, identity, deadlineMs), unansweredBy("rejected"));
    });

  it("is asked once more with the same opId when its connection broke", async (test) => {
    let asked = 0;
    const { server, client, target } = await startPair(test, (request, response) => {
      asked += 1;
      if (asked === 1) request.socket.resetAndDestroy();
      else sendJson(response, 200, fenced);
    });
    assert.deepEqual(await client.fence(target, identity, deadlineMs), fenced);
    assert.deepEqual(
      server.requests.map(({ body }) => JSON.parse(body) as unknown),
      [identity, identity],
    );
  });

  it("is not asked for ever when every connection breaks", async (test) => {
    const { server, client, target } = await startPair(test, (request) => void request.socket.resetAndDestroy());
    await assert.rejects(client.fence(target, identity, deadlineMs), unansweredBy("reset"));
    assert.equal(server.requests.length, 2);
  });
});
