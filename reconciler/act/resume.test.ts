/**
 * Every initiator can be killed at any point and another one comes to the same end: here it is killed after each of its
 * API writes and calls in turn.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Position } from "../../api/contract/v1.ts";
import { decide } from "../decide/index.ts";
import { now, specOf } from "../testing/engineWorld.ts";
import { Killed, ruleOf, SimulatedEngine } from "../testing/simulatedEngine.ts";
import { runElection, runRecording, runRuleChange, runTending } from "./index.ts";

/** One pass of the loop, as the daemon makes it. @returns whether anything was to be done. */
const pass = async (engine: SimulatedEngine): Promise<boolean> => {
  const { plan } = decide(engine.snapshot(), now);
  const { world } = engine;
  switch (plan.kind) {
    case "rest":
      return false;
    case "tend":
      await runTending(plan.steps, world);
      return true;
    case "record":
      await runRecording(plan, world);
      return true;
    case "changeRule":
      await runRuleChange(plan, world);
      return true;
    case "elect":
      await runElection(plan, world);
      return true;
  }
};

/** Passes until nothing is left to do, or the initiator is killed. */
const converge = async (engine: SimulatedEngine): Promise<void> => {
  for (let passes = 0; passes < 20; passes += 1) {
    try {
      if (!(await pass(engine))) return;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    if (engine.isKilled) return;
    engine.replicate();
  }
  assert.fail("it never came to rest");
};

/** What is true of every engine that is at rest, however it came there. */
const assertHealthy = (engine: SimulatedEngine): void => {
  const { lease } = engine;
  const leaders = engine.replicas.filter(({ up, role }) => up && role === "primary");
  assert.deepEqual(
    leaders.map(({ name }) => name),
    [lease?.holder],
    "the Lease names the only primary",
  );
  const [primary] = leaders;
  assert.ok(primary !== undefined);
  assert.equal(primary.ledEpoch, lease?.epoch, "it leads the Lease's epoch");
  assert.deepEqual(lease?.rule, ruleOf(engine), "the Lease says the rule of the spec");
  assert.equal(primary.sync?.k, ruleOf(engine).k, "the primary acknowledges by the rule of the spec");
  for (const { name, up, upstream } of engine.replicas) {
    assert.equal(engine.roles.get(name), name === primary.name ? "primary" : "standby", `label of ${name}`);
    if (up && name !== primary.name) assert.equal(upstream?.instance, primary.name, `${name} follows`);
  }
};

/** An engine that trades, with orders acknowledged. */
const trading = async (): Promise<{ engine: SimulatedEngine; acked: Position }> => {
  const engine = new SimulatedEngine(3);
  await converge(engine);
  engine.replicate();
  const acked = engine.acknowledge();
  assert.ok(acked !== undefined);
  return { engine, acked };
};

interface Story {
  readonly what: string;
  /** The world at the moment at which the first initiator begins. */
  readonly begin: () => Promise<{ readonly engine: SimulatedEngine; readonly acked: Position | undefined }>;
  readonly check: (engine: SimulatedEngine) => void;
}

const stories: readonly Story[] = [
  {
    what: "a first election",
    begin: () => Promise.resolve({ engine: new SimulatedEngine(3), acked: undefined }),
    check: () => undefined,
  },
  {
    what: "a failover",
    begin: async () => {
      const world = await trading();
      world.engine.kill("te-0");
      return world;
    },
    check: ({ lease }) => assert.notEqual(lease?.holder, "te-0"),
  },
  {
    what: "a failover to the only standby that has the last order",
    begin: async () => {
      const world = await trading();
      world.engine.kill("te-0");
      world.engine.replica("te-1").durable = { epoch: 1, seq: 1 };
      world.engine.replica("te-2").durable = world.acked;
      return world;
    },
    check: ({ lease }) => assert.equal(lease?.holder, "te-2"),
  },
  {
    what: "a switchover",
    begin: async () => {
      const world = await trading();
      world.engine.annotations = { "enginekeeper.dev/switchover-to": "te-2" };
      return world;
    },
    check: ({ lease, annotations }) => {
      assert.equal(lease?.holder, "te-2");
      assert.deepEqual(annotations, {}, "the request is gone");
    },
  },
  {
    what: "a change of k",
    begin: async () => {
      const world = await trading();
      world.engine.spec = specOf({ replicas: 3, failoverStrategy: { syncStandbys: 2 } });
      return world;
    },
    check: ({ lease }) => assert.equal(lease?.epoch, 1, "no election was held for it"),
  },
];

describe("an initiator that is killed", () => {
  for (const { what, begin, check } of stories)
    it(`after any step of ${what} leaves what the next one completes`, async () => {
      let killedAt = 0;
      for (let isComplete = false; !isComplete; ) {
        killedAt += 1;
        const { engine, acked } = await begin();
        engine.begin(killedAt);
        await converge(engine);
        isComplete = engine.stepsMade < killedAt;
        // Orders may go on between the two initiators.
        const between = engine.acknowledge();
        engine.begin();
        await converge(engine);
        assertHealthy(engine);
        check(engine);
        const primary = engine.primary();
        for (const order of [acked, between])
          if (order !== undefined)
            assert.ok((primary?.durable.seq ?? 0) >= order.seq, `no order is lost (${killedAt})`);
      }
      assert.ok(killedAt >= 3, "it was killed at several steps");
    });

  it("does not keep a second one, at work at the same time, from electing exactly one primary", async () => {
    const { engine } = await trading();
    engine.kill("te-0");
    const plans = [decide(engine.snapshot(), now).plan, decide(engine.snapshot(), now).plan];
    const elections = plans.flatMap((plan) => (plan.kind === "elect" ? [runElection(plan, engine.world)] : []));
    const outcomes = await Promise.all(elections);
    assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["elected", "superseded"]);
    await converge(engine);
    assertHealthy(engine);
  });
});
