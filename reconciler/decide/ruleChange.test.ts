import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runRuleChange } from "../act/ruleChange.ts";
import type { CommitRule, EngineSnapshot } from "../observe/index.ts";
import {
  blankStatus,
  healthy,
  leads,
  leaseOf,
  live,
  now,
  podName,
  silent,
  specOf,
  withPod,
  withReplica,
  withStatus,
} from "../testing/engineWorld.ts";
import { planned } from "../testing/planSummary.ts";
import { SimulatedEngine } from "../testing/simulatedEngine.ts";
import { decide } from "./decide.ts";
import type { RuleChangePlan } from "./plan.ts";

const upTo = (n: number): readonly string[] => Array.from({ length: n }, (_, ordinal) => podName(ordinal));
const ruleOf = (n: number, k: number): CommitRule => ({ members: upTo(n), k });
const wished = (n: number, k: number): EngineSnapshot["spec"] =>
  specOf({ replicas: n, failoverStrategy: { syncStandbys: k, durability: k === 0 ? "Available" : "Strict" } });

interface Scene {
  /** Pods that are there. */
  readonly pods: number;
  /** By the Lease and in the primary, unless said otherwise. */
  readonly from: readonly [n: number, k: number];
  readonly running?: readonly [n: number, k: number];
  readonly to: readonly [n: number, k: number];
}

const world = ({ pods, from, running = from, to }: Scene): EngineSnapshot =>
  withReplica(healthy(pods, { spec: wished(...to), lease: leaseOf({ rule: ruleOf(...from) }) }), 0, () => ({
    stream: live(
      leads(
        0,
        Array.from({ length: running[0] - 1 }, (_, index) => index + 1),
        running[1],
      ),
    ),
  }));

const behind = (before: EngineSnapshot, ...ordinals: readonly number[]): EngineSnapshot =>
  ordinals.reduce((changed, ordinal) => withStatus(changed, ordinal, () => ({ ready: false })), before);

const changeIn = (before: EngineSnapshot): RuleChangePlan => {
  const { plan } = decide(before, now);
  assert.equal(plan.kind, "changeRule", JSON.stringify(plan));
  return plan;
};

describe("another commit rule that the spec asks for", () => {
  const changes: readonly [string, Scene][] = [
    ["more copies", { pods: 3, from: [3, 1], to: [3, 2] }],
    ["fewer copies", { pods: 3, from: [3, 2], to: [3, 1] }],
    ["no copies", { pods: 2, from: [2, 1], to: [2, 0] }],
    ["more members", { pods: 5, from: [3, 1], to: [5, 1] }],
    ["more members and copies", { pods: 5, from: [3, 1], to: [5, 2] }],
    ["a standby for the only replica", { pods: 2, from: [1, 0], to: [2, 1] }],
    ["fewer members", { pods: 5, from: [5, 1], to: [3, 1] }],
    ["fewer members and copies", { pods: 3, from: [3, 2], to: [2, 1] }],
    ["one replica only", { pods: 3, from: [3, 1], to: [1, 0] }],
  ];
  for (const [what, scene] of changes)
    it(`is given to the primary while it leads: ${what}`, () => {
      const plan = changeIn(world(scene));
      assert.deepEqual(plan.from, ruleOf(...scene.from));
      assert.deepEqual(plan.to, ruleOf(...scene.to));
      assert.deepEqual([plan.primary.name, plan.epoch, plan.leaseVersion, plan.version], ["te-0", 3, "7", 2]);
    });

  const three: Scene = { pods: 3, from: [3, 1], to: [3, 1] };
  it("is none when Lease, primary and spec agree", () => assert.equal(planned(world(three)), "rest"));

  it("is finished when the initiator died half-way: the Lease, or the primary, is changed alone", () => {
    const halfDone: readonly Scene[] = [
      { ...three, running: [3, 2] },
      { ...three, from: [3, 2], running: [3, 1] },
      { pods: 5, from: [5, 1], running: [3, 1], to: [5, 1] },
    ];
    for (const scene of halfDone) assert.deepEqual(changeIn(world(scene)).to, ruleOf(...scene.to));
  });
});

describe("a change of the rule waits", () => {
  const grow: Scene = { pods: 5, from: [3, 1], to: [5, 1] };
  const strict: Scene = { pods: 3, from: [3, 1], to: [3, 2] };
  const waits: readonly [string, EngineSnapshot][] = [
    ["until each new member has caught up: it would be counted on for promises", behind(world(grow), 4)],
    ["while a new member has no pod", withReplica(world(grow), 4, () => ({ pod: undefined, stream: undefined }))],
    ["while a new member is not heard", silent(world(grow), 3, 5_000)],
    ["until enough members are in sync to go on acknowledging", behind(world(strict), 2)],
    ["while none of the members that stay is in sync", behind(world({ pods: 3, from: [3, 1], to: [2, 1] }), 1)],
  ];
  for (const [until, before] of waits) it(until, () => assert.equal(planned(before), "rest"));

  it("behind a correction: an empty new member is first told to follow", () => {
    const before = withReplica(world(grow), 4, () => ({ stream: live(blankStatus(4)) }));
    assert.equal(planned(before), "tend te-4 follows te-0");
  });

  it("behind a move: a primary whose place is removed hands over first", () => {
    const leaving = withPod(world(strict), 0, { terminating: true });
    assert.equal(planned(leaving), "elect PodLeaving in 4 prefer te-1");
  });

  it("not for an old member that is behind, as long as the others are enough", () => {
    assert.equal(planned(behind(world({ pods: 5, from: [5, 1], to: [5, 2] }), 4)), "changeRule k=2 of 5");
    assert.equal(planned(behind(world(grow), 2)), "changeRule k=1 of 5");
  });

  it("not for a member that is removed: it is not counted on any more", () => {
    assert.equal(planned(behind(world({ pods: 3, from: [3, 1], to: [2, 1] }), 2)), "changeRule k=1 of 2");
  });

  it("not for a standby that is gone when no copies are asked for: trading goes on with that", () => {
    assert.equal(planned(behind(world({ pods: 2, from: [2, 1], to: [2, 0] }), 1)), "changeRule k=0 of 2");
  });
});

describe("the order of a change", () => {
  /** Every write and call, in order. */
  const logged = async (scene: Scene): Promise<readonly string[]> => {
    const log: string[] = [];
    const note = (where: string, { members, k }: CommitRule) => log.push(`${where} ${k} of ${members.length}`);
    const { world: act } = new SimulatedEngine(scene.pods);
    await runRuleChange(changeIn(world(scene)), {
      ...act,
      calls: {
        ...act.calls,
        setMembers: (_, epoch, version, rule) => {
          note("members", rule);
          return Promise.resolve({ instance: "te-0", epoch, version, committed: 100 });
        },
      },
      writes: {
        ...act.writes,
        putLease: ({ rule }) => {
          note("lease", rule);
          return Promise.resolve("8");
        },
      },
    });
    return log;
  };

  const table: readonly [string, Scene, readonly string[]][] = [
    [
      "promises more copies only once they are there",
      { pods: 3, from: [3, 1], to: [3, 2] },
      ["members 2 of 3", "lease 2 of 3"],
    ],
    [
      "promises fewer copies before there are fewer",
      { pods: 3, from: [3, 2], to: [3, 1] },
      ["lease 1 of 3", "members 1 of 3"],
    ],
    [
      "names a possible holder before it is one",
      { pods: 5, from: [3, 1], to: [5, 1] },
      ["lease 1 of 5", "members 1 of 5"],
    ],
    [
      "names a former holder until it is none",
      { pods: 5, from: [5, 1], to: [3, 1] },
      ["members 1 of 3", "lease 1 of 3"],
    ],
    [
      "says the combination of both in between",
      { pods: 5, from: [3, 1], to: [5, 2] },
      ["lease 1 of 5", "members 2 of 5", "lease 2 of 5"],
    ],
    [
      "says it also when both shrink",
      { pods: 3, from: [3, 2], to: [2, 1] },
      ["lease 1 of 3", "members 1 of 2", "lease 1 of 2"],
    ],
  ];
  for (const [what, scene, expected] of table) it(what, async () => assert.deepEqual(await logged(scene), expected));
});
