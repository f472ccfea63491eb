import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { EngineClient } from "../testing/engineClient.ts";
import { EngineProcess } from "../testing/engineProcess.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";

const names = ["te-0", "te-1", "te-2"] as const;
const othersOf = (name: string): string[] => names.filter((other) => other !== name);

/** Makes `primary` lead `epoch` with the rest following, and waits until it takes orders. */
const elect = async (epoch: number, primary: EngineClient, standbys: readonly EngineClient[]): Promise<void> => {
  const members = othersOf(primary.instance);
  assert.equal((await primary.promote(epoch, members)).status, 200);
  for (const standby of standbys) assert.equal((await standby.follow(epoch, primary)).status, 200);
  await primary.accepting();
};

describe("three engine processes", () => {
  it("keep every acknowledged order when the primary is killed, and cut what it had alone", async (test) => {
    const root = await temporaryDirectory(test);
    const processes = await Promise.all(names.map((name) => EngineProcess.start(test, root, name)));
    const [first, second, third] = processes.map((engine) => engine.client);
    const killed = processes[0];
    assert.ok(first !== undefined && second !== undefined && third !== undefined && killed !== undefined);
    await elect(1, first, [second, third]);

    const acked = new Map<string, unknown>();
    let sending = true;
    const senders = Array.from({ length: 8 }, async (_, sender) => {
      for (let count = 0; sending; count += 1) {
        const clientId = `order-${sender}-${count}`;
        try {
          const { status, body } = await first.bid(clientId);
          if (status === 200) acked.set(clientId, body["seq"]);
        } catch {
          return;
        }
      }
    });
    await sleep(300);
    await killed.end("SIGKILL");
    sending = false;
    await Promise.all(senders);
    assert.ok(acked.size > 0, "orders were acknowledged before the kill");

    const fences = [await second.fence(2), await third.fence(2)];
    assert.deepEqual(
      fences.map(({ status }) => status),
      [200, 200],
    );
    const seqOf = (index: number): number => (fences[index]?.body["durable"] as { seq: number }).seq;
    const [winner, loser] = seqOf(0) >= seqOf(1) ? [second, third] : [third, second];
    await elect(2, winner, [loser]);

    const survived = new Map((await winner.journal()).map((line) => [line.clientId, line.seq]));
    for (const [clientId, seq] of acked) assert.equal(survived.get(clientId), seq, `${clientId} survived`);
    const [known] = acked.keys();
    const again = await winner.bid(known ?? "");
    assert.equal(again.body["duplicate"], true);
    assert.equal(again.body["epoch"], 1);

    const back = (await EngineProcess.start(test, root, "te-0")).client;
    await back.follow(2, winner);
    const head = (await winner.status()).watermarks.committed;
    const caughtUp = await back.until("caught up", ({ watermarks }) => watermarks.applied >= head);
    assert.equal(caughtUp.upstream?.instance, winner.instance);
    const atHead = await Promise.all([winner, loser, back].map((engine) => engine.get(`/v1/hash?seq=${head}`)));
    assert.equal(new Set(atHead.map(({ body }) => body["hash"])).size, 1);
  });

  it("let a stopped primary that wakes up acknowledge nothing", async (test) => {
    const root = await temporaryDirectory(test);
    const processes = await Promise.all(names.map((name) => EngineProcess.start(test, root, name)));
    const [first, second, third] = processes.map((engine) => engine.client);
    const stopped = processes[0];
    assert.ok(first !== undefined && second !== undefined && third !== undefined && stopped !== undefined);
    await elect(1, first, [second, third]);
    assert.equal((await first.bid("before")).status, 200);

    stopped.child.kill("SIGSTOP");
    const inFlight = Array.from({ length: 20 }, (_, index) => first.bid(`asleep-${index}`));
    await second.fence(2);
    await third.fence(2);
    await elect(2, second, [third]);
    assert.equal((await second.bid("after")).status, 200);

    stopped.child.kill("SIGCONT");
    const answers = await Promise.all([...inFlight, first.bid("awake"), first.bid("before"), first.find("missing")]);
    for (const { status } of answers) assert.ok(status === 503 || status === 504, `answered ${status}`);

    const fenced = await first.fence(2);
    assert.equal(fenced.body["wasPrimary"], true);
    await first.follow(2, second);
    const head = (await second.status()).durable;
    const standby = await first.until(
      "a standby again",
      ({ durable }) => durable.epoch === 2 && durable.seq >= head.seq,
    );
    assert.equal(standby.role, "standby");
  });

  it("drain on TERM and exit 0", async (test) => {
    const root = await temporaryDirectory(test);
    const engine = await EngineProcess.start(test, root, "te-0");
    await engine.client.promote(1, [], { k: 0 });
    await engine.client.accepting();
    assert.equal((await engine.client.bid("one")).status, 200);
    assert.equal(await engine.end("SIGTERM"), 0);
  });
});
