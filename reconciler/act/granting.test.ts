import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decide, type GrantStep } from "../decide/index.ts";
import { healthy, leads, live, now, withReplica } from "../testing/engineWorld.ts";
import { SimulatedEngine } from "../testing/simulatedEngine.ts";
import { Granting, runRuleChange } from "./index.ts";
import type { ActWorld } from "./ports.ts";

const step = (changes: Partial<GrantStep> = {}): GrantStep => {
  const { grant } = decide(
    withReplica(healthy(), 0, () => ({ stream: live(leads(0, [1, 2], 0)) })),
    now,
  );
  assert.ok(grant !== undefined);
  return { ...grant, ttlMs: 30_000, ...changes };
};

/** A world that notes when grants are given, by a clock that the test sets. */
const scene = () => {
  const given: number[] = [];
  const state = { time: 0, answers: true };
  const engine = new SimulatedEngine(3);
  const world: ActWorld = {
    ...engine.world,
    calls: {
      ...engine.calls,
      grant: (replica, epoch, ttlMs) => {
        given.push(state.time);
        return state.answers
          ? Promise.resolve({ instance: replica.name, epoch, ttlMs })
          : Promise.reject(new Error("no answer"));
      },
    },
    clock: { now: () => state.time, sleep: () => Promise.resolve() },
  };
  const granting = new Granting();
  const passUntil = async (end: number, asked: GrantStep | undefined, everyMs = 250): Promise<void> => {
    for (; state.time < end; state.time += everyMs) await granting.renew(asked, world);
  };
  return { given, state, granting, world, passUntil };
};

describe("grants", () => {
  it("are given at once, and renewed three times in the life of one", async () => {
    const { given, passUntil } = scene();
    await passUntil(31_000, step());
    assert.deepEqual(given, [0, 10_000, 20_000, 30_000]);
  });

  it("that are not answered are given again soon, and the reason is told", async () => {
    const { given, state, granting, world, passUntil } = scene();
    state.answers = false;
    assert.equal((await granting.renew(step(), world))?.message, "no answer");
    await passUntil(1_250, step());
    assert.deepEqual(given, [0, 500, 1_000]);
    state.answers = true;
    await passUntil(3_000, step());
    assert.deepEqual(given, [0, 500, 1_000, 1_500]);
  });

  it("of a new primary or a new epoch wait for nothing", async () => {
    const { given, granting, world } = scene();
    await granting.renew(step(), world);
    await granting.renew(step({ epoch: 4 }), world);
    assert.equal(given.length, 2);
    await granting.renew(undefined, world);
    await granting.renew(step({ epoch: 4 }), world);
    assert.equal(given.length, 3, "a primary that needs one again gets it at once");
  });
});

describe("a change to a rule without standbys", () => {
  it("is granted before it is made: under the new rule the primary would stop at once", async () => {
    const engine = new SimulatedEngine(3);
    const { replica: primary } = step();
    Object.assign(engine.replica(primary.name), {
      role: "primary",
      ledEpoch: 3,
      durable: { epoch: 3, seq: 9 },
      sync: { k: 1, version: 1, members: ["te-1", "te-2"] },
    });
    const members = ["te-0", "te-1", "te-2"];
    const calls: string[] = [];
    const noted = {
      ...engine.world,
      calls: {
        ...engine.calls,
        grant: (...args: Parameters<ActWorld["calls"]["grant"]>) => {
          calls.push("grant");
          return engine.calls.grant(...args);
        },
        setMembers: (...args: Parameters<ActWorld["calls"]["setMembers"]>) => {
          calls.push("members");
          return engine.calls.setMembers(...args);
        },
      },
      writes: { ...engine.writes, putLease: () => Promise.resolve("8") },
    };
    const change = { kind: "changeRule", primary, epoch: 3, leaseVersion: "7", version: 2 } as const;
    await runRuleChange({ ...change, from: { members, k: 1 }, to: { members, k: 0 } }, noted);
    assert.deepEqual(calls, ["grant", "members"]);
    await runRuleChange({ ...change, version: 3, from: { members, k: 0 }, to: { members, k: 1 } }, noted);
    assert.deepEqual(calls, ["grant", "members", "members"]);
  });
});
