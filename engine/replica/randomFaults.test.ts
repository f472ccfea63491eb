import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import fc from "fast-check";

import type { Position } from "../journal/record.ts";
import { eventually } from "../testing/eventually.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { TestReplica } from "../testing/testReplica.ts";

const names = ["te-0", "te-1", "te-2"] as const;
const limits = { detectionMs: 100, heartbeatMs: 10, commitTimeoutMs: 50 };

/** One thing that happens to three replicas while orders flow. */
type Event =
  | { readonly kind: "orders"; readonly count: number }
  /** Ends a replica and starts it again on its data. */
  | { readonly kind: "restart"; readonly target: number }
  /** Fences two replicas or all, elects the most advanced of them, and lets the others follow. */
  | { readonly kind: "elect"; readonly without: number | null };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("orders" as const), count: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("restart" as const), target: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("elect" as const), without: fc.option(fc.nat(2), { nil: null }) }),
  },
);

class World {
  readonly #test: TestContext;
  readonly #root: string;
  readonly #replicas: TestReplica[] = [];
  readonly acked = new Map<string, Position>();
  #epoch = 0;
  /** The last epoch that had a primary. */
  #ledEpoch = 0;
  #sent = 0;
  #primary: string | null = null;

  private constructor(test: TestContext, root: string) {
    this.#test = test;
    this.#root = root;
  }

  static async start(test: TestContext): Promise<World> {
    const world = new World(test, await temporaryDirectory(test));
    for (const name of names) {
      await mkdir(join(world.#root, name));
      world.#replicas.push(await world.#startReplica(name));
    }
    await world.elect(null);
    return world;
  }

  async happen(next: Event): Promise<void> {
    switch (next.kind) {
      case "orders":
        return this.#order(next.count);
      case "restart":
        return this.#restart(next.target);
      case "elect":
        return this.elect(next.without);
    }
  }

  /** An election by the rules of the operator: two promises that can find an order, or the old primary's; the most advanced leads. */
  async elect(without: number | null): Promise<void> {
    this.#epoch += 1;
    const epoch = this.#epoch;
    const present = this.#replicas.filter((_, index) => index !== without);
    const promises = await Promise.all(present.map((replica) => replica.fence(epoch)));
    const counting = promises.filter(({ blank }) => !blank).length;
    const hasOldPrimary = promises.some(({ primaryEpoch }) => primaryEpoch === this.#ledEpoch);
    if (epoch > 1 && counting < 2 && !hasOldPrimary) return;
    const best = promises.toSorted(
      (a, b) =>
        b.durable.epoch - a.durable.epoch || b.durable.seq - a.durable.seq || a.instance.localeCompare(b.instance),
    )[0];
    const leader = present.find(({ instance }) => instance === best?.instance);
    assert.ok(best !== undefined && leader !== undefined);
    await leader.promote(epoch, names, { minPosition: best.durable });
    for (const replica of present) if (replica !== leader) await replica.follow(epoch, leader);
    this.#primary = leader.instance;
    this.#ledEpoch = epoch;
  }

  /** All in place, and everything applied everywhere. */
  async settle(): Promise<readonly TestReplica[]> {
    await this.elect(null);
    const leader = this.#leader();
    assert.ok(leader !== undefined);
    await eventually("the last epoch is committed", () => leader.exchange.appliedSeq === leader.journal.last.seq);
    const end = leader.journal.last.seq;
    for (const replica of this.#replicas) {
      await eventually(`${replica.instance} has applied all`, () => replica.exchange.appliedSeq >= end);
    }
    return this.#replicas;
  }

  async #order(count: number): Promise<void> {
    const leader = this.#leader();
    if (leader === undefined) return;
    const ids = Array.from({ length: count }, (_, index) => `order-${this.#sent + index}`);
    this.#sent += count;
    // Not waited for before the next event, unless it is answered at once: faults hit orders in flight.
    const answers = Promise.all(
      ids.map(async (clientId) => {
        const outcome = await leader.place(clientId);
        if (outcome.kind === "placed") this.#record(clientId, outcome.result.position);
      }),
    );
    await Promise.race([answers, new Promise((resolve) => setTimeout(resolve, 5))]);
  }

  #record(clientId: string, position: Position): void {
    assert.equal(this.acked.has(clientId), false, `${clientId} was acknowledged twice`);
    this.acked.set(clientId, position);
  }

  async #restart(target: number): Promise<void> {
    const before = this.#replicas[target];
    assert.ok(before !== undefined);
    if (before.instance === this.#primary) this.#primary = null;
    await before.stop();
    const after = await this.#startReplica(before.instance);
    this.#replicas[target] = after;
    const leader = this.#leader();
    if (leader !== undefined) await after.follow(this.#epoch, leader);
  }

  #leader(): TestReplica | undefined {
    return this.#replicas.find(({ instance }) => instance === this.#primary);
  }

  #startReplica(instance: string): Promise<TestReplica> {
    return TestReplica.start(this.#test, { instance, dataDir: join(this.#root, instance), limits });
  }
}

const idsInJournal = async ({ journal }: TestReplica): Promise<Map<string, Position[]>> => {
  const found = new Map<string, Position[]>();
  for await (const piece of journal.read(1, journal.durable.seq)) {
    for (const { epoch, seq, command } of piece.records) {
      if (command.kind !== "order") continue;
      found.set(command.clientId, [...(found.get(command.clientId) ?? []), { epoch, seq }]);
    }
  }
  return found;
};

describe("three replicas under restarts and elections at any moment", () => {
  it("keep each acknowledged order once, where it was acknowledged, and agree on everything", async (test) => {
    let acked = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 4, maxLength: 14 }), async (events) => {
        const world = await World.start(test);
        for (const next of events) await world.happen(next);
        const replicas = await world.settle();
        assert.equal(new Set(replicas.map(({ exchange }) => exchange.lastHash.hash)).size, 1, "equal hashes");
        for (const replica of replicas) {
          assert.deepEqual(replica.failures, []);
          const journal = await idsInJournal(replica);
          for (const [clientId, position] of world.acked) {
            assert.deepEqual(journal.get(clientId), [position], `${clientId} at ${replica.instance}`);
          }
        }
        acked += world.acked.size;
        for (const replica of replicas) await replica.stop();
      }),
      { numRuns: 12 },
    );
    assert.ok(acked > 0, "orders were acknowledged between the faults");
  });
});
