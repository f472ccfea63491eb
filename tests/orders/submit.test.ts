import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Clock } from "./clock.ts";
import { LeaderSearch } from "./leaderSearch.ts";
import type { Order } from "./randomOrders.ts";
import { type Destination, ReplicaRoute } from "./replicaRoute.ts";
import type { Reply } from "./reply.ts";
import { submit } from "./submit.ts";

const order: Order = { clientId: "c-1", type: "limit", side: "buy", price: "100.00", quantity: "1" };
const acknowledgement = { epoch: 2, seq: 9, orderId: "o-9", duplicate: false };
const acked: Reply = { kind: "acked", ack: acknowledgement };
const lost: Reply = { kind: "unresolved", reason: "ECONNRESET" };
const replicas: Destination = { kind: "replicas", targets: ["a:1", "b:1", "c:1"] };

/** Submits one order against scripted replies; each attempt takes 10 ms, each sleep as long as it asks for. */
async function run(
  replies: readonly Reply[],
  destination: Destination = replicas,
  giveUpAfter = Number.POSITIVE_INFINITY,
) {
  const attempts: { target: string; body: string }[] = [];
  const dropped: string[] = [];
  const retries: string[] = [];
  const giveUp = new AbortController();
  let time = 0;
  const clock: Clock = {
    now: () => time,
    sleep: (ms) => {
      time += ms;
      return Promise.resolve();
    },
  };
  const settled = await submit(order, {
    connection: {
      send: (target, body) => {
        attempts.push({ target, body });
        time += 10;
        if (attempts.length >= giveUpAfter) giveUp.abort();
        return Promise.resolve(replies[attempts.length - 1] ?? lost);
      },
      drop: (target) => dropped.push(target),
      close: () => undefined,
    },
    route: new ReplicaRoute(destination),
    search: new LeaderSearch(clock, () => 0),
    clock,
    giveUp: giveUp.signal,
    onRetry: (reason) => retries.push(reason),
  });
  return { settled, visited: attempts.map((attempt) => attempt.target), attempts, dropped, retries };
}

describe("submit", () => {
  it("settles at the first acknowledgement, with the times of that attempt", async () => {
    const { settled, visited } = await run([acked]);
    assert.deepEqual(settled, {
      kind: "acked",
      ack: acknowledgement,
      sentMs: 0,
      ackedMs: 10,
    });
    assert.deepEqual(visited, ["a:1"]);
  });

  it("takes the next replica right away when the connection breaks", async () => {
    const { settled, visited } = await run([lost, acked]);
    assert.ok(settled.kind === "acked");
    assert.deepEqual(visited, ["a:1", "b:1"]);
    assert.equal(settled.sentMs, 10, "no pause before the second attempt");
  });

  it("follows the hint of a standby", async () => {
    const { visited } = await run([{ kind: "redirected", leader: "c:1" }, acked]);
    assert.deepEqual(visited, ["a:1", "c:1"]);
  });

  it("sends the same order again until some replica knows the outcome", async () => {
    const unknown: Reply = { kind: "unresolved", reason: "504 UNKNOWN" };
    const { attempts, retries } = await run([unknown, lost, { kind: "redirected", leader: null }, unknown, acked]);
    assert.equal(new Set(attempts.map((attempt) => attempt.body)).size, 1);
    assert.deepEqual(JSON.parse(attempts[0]?.body ?? ""), order);
    assert.deepEqual(retries, ["504 UNKNOWN", "ECONNRESET", "421 NOT_PRIMARY", "504 UNKNOWN"]);
  });

  it("pauses briefly from the second fruitless attempt on", async () => {
    const { settled } = await run([lost, lost, acked]);
    assert.ok(settled.kind === "acked");
    assert.equal(settled.sentMs, 25, "two attempts of 10 ms and one pause of 5 ms");
  });

  it("does not repeat what was refused", async () => {
    const { settled, visited } = await run([{ kind: "refused", reason: "400 BAD_PRICE" }]);
    assert.deepEqual(settled, { kind: "refused", reason: "400 BAD_PRICE" });
    assert.equal(visited.length, 1);
  });

  it("says that the outcome is unknown when told to give up", async () => {
    const { settled, visited } = await run([], replicas, 4);
    assert.deepEqual(settled, { kind: "unresolved" });
    assert.equal(visited.length, 4);
  });

  it("opens a new connection for every attempt after the first when a Service routes", async () => {
    const service: Destination = { kind: "service", target: "engine:7000" };
    const { visited, dropped } = await run([{ kind: "redirected", leader: "b:1" }, lost, acked], service);
    assert.deepEqual(visited, ["engine:7000", "engine:7000", "engine:7000"]);
    assert.deepEqual(dropped, ["engine:7000", "engine:7000"]);
  });
});
