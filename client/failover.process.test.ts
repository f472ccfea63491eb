import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type EngineClient, written } from "../engine/testing/engineClient.ts";
import { EngineProcess } from "../engine/testing/engineProcess.ts";
import { temporaryDirectory } from "../engine/testing/temporaryDirectory.ts";
import { OrderClient, type OrderResult, type Pause } from "./index.ts";

const names = ["te-0", "te-1", "te-2"];

interface Trio {
  readonly root: string;
  readonly processes: readonly [EngineProcess, EngineProcess, EngineProcess];
  readonly engines: readonly [EngineClient, EngineClient, EngineClient];
}

const elect = async (epoch: number, primary: EngineClient, standbys: readonly EngineClient[]): Promise<void> => {
  const members = names.filter((name) => name !== primary.instance);
  assert.equal((await primary.promote(epoch, members)).status, 200);
  for (const standby of standbys) assert.equal((await standby.follow(epoch, primary)).status, 200);
  await primary.accepting();
};

const startTrio = async (test: TestContext): Promise<Trio> => {
  const root = await temporaryDirectory(test);
  const start = (name: string): Promise<EngineProcess> => EngineProcess.start(test, root, name);
  const [first, second, third] = names;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const processes = await Promise.all([start(first), start(second), start(third)] as const);
  const engines = [processes[0].client, processes[1].client, processes[2].client] as const;
  await elect(1, engines[0], [engines[1], engines[2]]);
  return { root, processes, engines };
};

/** Orders placed one after the other by several senders, with what became of each. */
class Load {
  readonly results = new Map<string, OrderResult>();
  readonly #senders: Promise<unknown>;
  #sending = true;

  constructor(client: OrderClient) {
    this.#senders = Promise.all(
      Array.from({ length: 32 }, async (_, sender) => {
        for (let count = 0; this.#sending; count += 1) {
          const clientId = `order-${sender}-${count}`;
          const side = count % 2 === 0 ? "buy" : "sell";
          const result = await client.place({ clientId, side, type: "limit", price: "100.00", quantity: "1" }, 60_000);
          assert.ok(!this.results.has(clientId), "one result for one order");
          this.results.set(clientId, result);
          await sleep(2);
        }
      }),
    );
  }

  async stop(): Promise<void> {
    this.#sending = false;
    await this.#senders;
  }

  /** Every result is an acknowledgement of a place of its own that is in the journal. */
  async check(engine: EngineClient): Promise<void> {
    const journal = await engine.journal();
    const seqs = new Map<string, number[]>();
    for (const { clientId, seq } of journal) {
      if (clientId !== undefined) seqs.set(clientId, [...(seqs.get(clientId) ?? []), seq]);
    }
    const seen = new Set<number>();
    for (const [clientId, result] of this.results) {
      assert.ok(result.kind === "placed", `${clientId}: ${JSON.stringify(result)}`);
      assert.ok(seqs.get(clientId)?.includes(result.seq), `${clientId} is in the journal`);
      assert.ok(!seen.has(result.seq), `place ${result.seq} was given once`);
      seen.add(result.seq);
    }
  }
}

const clientOf = (test: TestContext, { engines }: Trio, pauses: Pause[]): OrderClient => {
  const replicas = engines.map(({ addresses }) => written(addresses.orders));
  // By default a failover as quick as this one may pass without being called a pause.
  const client = new OrderClient({ replicas, pauseMs: 10, onPause: (pause) => pauses.push(pause) });
  test.after(() => client.close(0));
  return client;
};

describe("an order client of three engine processes", () => {
  it("loses and doubles nothing when the primary is killed, and goes on with the next one", async (test) => {
    const trio = await startTrio(test);
    const { processes, engines } = trio;
    const pauses: Pause[] = [];
    const client = clientOf(test, trio, pauses);
    const load = new Load(client);
    await sleep(500);
    const before = load.results.size;
    assert.ok(before > 0, "orders were acknowledged before the kill");
    await processes[0].end("SIGKILL");
    const fences = [await engines[1].fence(2), await engines[2].fence(2)];
    const seqOf = (index: number): number => (fences[index]?.body["durable"] as { seq: number }).seq;
    const [winner, loser] = seqOf(0) >= seqOf(1) ? [engines[1], engines[2]] : [engines[2], engines[1]];
    await elect(2, winner, [loser]);
    await winner.until("used", ({ watermarks, epoch }) => watermarks.committed > epoch.startSeq + 100);
    await load.stop();
    assert.ok(load.results.size > before);
    await load.check(winner);
    const { epoch, primary } = client.statistics();
    assert.deepEqual([epoch, primary], [2, written(winner.addresses.orders)]);
    assert.ok(
      pauses.some(({ epochBefore, epochAfter }) => epochBefore === 1 && epochAfter === 2),
      "the failover was noticed as a pause",
    );
  });

  it("follows a handover, and no request ends in doubt", async (test) => {
    const trio = await startTrio(test);
    const [old, next, third] = trio.engines;
    const client = clientOf(test, trio, []);
    const load = new Load(client);
    await sleep(300);
    assert.equal((await old.call("POST", "/v1/demote", 1, { deadlineMs: 10_000 })).status, 200);
    for (const engine of [next, third]) assert.equal((await engine.fence(2)).status, 200);
    const { durable } = await old.status();
    await next.until("at the final position", (status) => status.durable.seq >= durable.seq).catch(() => undefined);
    const best = (await next.status()).durable.seq >= (await third.status()).durable.seq ? next : third;
    await elect(2, best, [old, best === next ? third : next]);
    await best.until("used", ({ watermarks, epoch }) => watermarks.committed > epoch.startSeq + 100);
    await load.stop();
    await load.check(best);
    assert.equal(client.statistics().unresolved, 0);
  });
});
