import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Handler, sendLines, serveContract } from "../testing/contractServer.ts";
import { follows } from "../testing/engineWorld.ts";
import { openStatusStream, type StatusStream, type StatusStreamOptions } from "./index.ts";

const status = { type: "status", status: follows(1, 0) } as const;
const heartbeat = {
  type: "heartbeat",
  durable: { epoch: 3, seq: 120 },
  committed: 118,
  writePath: { lastSyncAgeMs: 5, stalled: false },
  lastHeardFromPrimaryMs: 33,
  upstreamConnected: true,
} as const;

interface Watched {
  readonly stream: StatusStream;
  readonly changes: () => number;
}

const watch = (test: TestContext, address: string, overrides: Partial<StatusStreamOptions> = {}): Watched => {
  let changes = 0;
  const stream = openStatusStream({
    address,
    token: () => Promise.resolve("secret"),
    onUnauthorized: () => undefined,
    heartbeatMs: 20,
    silenceMs: 2_000,
    now: () => performance.now(),
    onChange: () => {
      changes += 1;
    },
    ...overrides,
  });
  test.after(() => stream.close());
  return { stream, changes: () => changes };
};

const eventually = async (what: string, holds: () => boolean): Promise<void> => {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, `${what} did not come true`);
    await sleep(2);
  }
};

const isLive = ({ stream }: Watched) => stream.view().connection.kind === "live";
const endOf = ({ stream }: Watched): string | undefined => {
  const { connection } = stream.view();
  return connection.kind === "ended" ? connection.reason : undefined;
};

const sendsStatus: Handler = (_, response) => sendLines(response, status);

describe("a status stream", () => {
  it("asks with the token and the wanted pace, and shows the status", async (test) => {
    const server = await serveContract(test, sendsStatus);
    const watched = watch(test, server.address);
    assert.equal(watched.stream.view().connection.kind, "connecting");
    await eventually("live", () => isLive(watched));
    assert.deepEqual(watched.stream.view().status, status.status);
    assert.equal(server.requests[0]?.path, "/v1/status/stream?heartbeatMs=20");
    assert.equal(server.requests[0].token, "Bearer secret");
  });

  it("lays heartbeats over the status, and wakes nobody for an ordinary one", async (test) => {
    const server = await serveContract(test, (_, response) => sendLines(response, status, heartbeat, heartbeat));
    const watched = watch(test, server.address);
    await eventually("the heartbeat", () => watched.stream.view().status?.durable.seq === 120);
    const view = watched.stream.view().status;
    assert.equal(view?.watermarks.committed, 118);
    assert.equal(view.upstream?.lastHeardMs, 33);
    assert.equal(watched.changes(), 1);
  });

  for (const [what, change] of [
    ["the connection to the primary is lost", { upstreamConnected: false }],
    ["the write path stalls", { writePath: { lastSyncAgeMs: 4_000, stalled: true } }],
  ] as const)
    it(`wakes when a heartbeat says that ${what}`, async (test) => {
      const server = await serveContract(test, (_, response) =>
        sendLines(response, status, { ...heartbeat, ...change }),
      );
      const watched = watch(test, server.address);
      await eventually("two changes", () => watched.changes() === 2);
    });

  it("puts lines together that arrive in pieces", async (test) => {
    const text = `${JSON.stringify(status)}\n`;
    const server = await serveContract(test, (_, response) => {
      response.writeHead(200).write(text.slice(0, 100));
      setTimeout(() => response.write(text.slice(100)), 20);
    });
    const watched = watch(test, server.address);
    await eventually("live", () => isLive(watched));
  });

  it("tells a killed process from one that ended the stream, and both from one that is not there", async (test) => {
    const server = await serveContract(test, sendsStatus);
    const watched = watch(test, server.address);
    await eventually("live", () => isLive(watched));
    const lostAt = performance.now();
    await server.close();
    await eventually("refused", () => endOf(watched) === "refused");
    const { connection, status: last } = watched.stream.view();
    assert.ok(connection.since >= lostAt && connection.since < lostAt + 5_000, "the loss dates from when it was lost");
    assert.deepEqual(last, status.status, "the last status is kept");

    const ending = await serveContract(test, (_, response) => {
      sendLines(response, status);
      response.end();
    });
    const other = watch(test, ending.address);
    await eventually("closed", () => endOf(other) === "closed");
  });

  it("comes back by itself when the process does", async (test) => {
    const server = await serveContract(test, sendsStatus);
    const watched = watch(test, server.address);
    await eventually("live", () => isLive(watched));
    await server.close();
    await eventually("ended", () => endOf(watched) !== undefined);
    await serveContract(test, sendsStatus, Number(server.address.split(":")[1]));
    await eventually("live again", () => isLive(watched));
  });

  it("gives up a connection that went silent", async (test) => {
    const server = await serveContract(test, sendsStatus);
    const watched = watch(test, server.address, { silenceMs: 200 });
    await eventually("live", () => isLive(watched));
    await eventually("timeout", () => endOf(watched) === "timeout");
  });

  it("asks for another token when the engine refuses the one it has", async (test) => {
    const server = await serveContract(test, (request, response) => {
      if (request.headers.authorization === "Bearer new") sendLines(response, status);
      else response.writeHead(401).end("{}");
    });
    let token = "old";
    const watched = watch(test, server.address, {
      token: () => Promise.resolve(token),
      onUnauthorized: () => {
        token = "new";
      },
    });
    await eventually("live", () => isLive(watched));
  });

  it("ends with the reason `rejected` what is not of the contract", async (test) => {
    const server = await serveContract(test, (_, response) => {
      response.writeHead(200).write('{"type":"surprise"}\n');
    });
    const watched = watch(test, server.address);
    await eventually("rejected", () => endOf(watched) === "rejected");
  });

  it("is silent after it was closed", async (test) => {
    const server = await serveContract(test, sendsStatus);
    const watched = watch(test, server.address);
    await eventually("live", () => isLive(watched));
    const before = watched.changes();
    watched.stream.close();
    await server.close();
    await sleep(100);
    assert.equal(watched.changes(), before);
  });
});
