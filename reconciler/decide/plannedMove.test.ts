import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { annotations } from "../../api/names.ts";
import type { EngineSnapshot, PodView } from "../observe/index.ts";
import {
  dropped,
  healthy,
  leads,
  leaseOf,
  live,
  now,
  silent,
  specOf,
  standbysLost,
  withPod,
  withReplica,
  withStatus,
} from "../testing/engineWorld.ts";
import { electionIn, planned, requested, summary } from "../testing/planSummary.ts";
import { decide } from "./decide.ts";
import type { TendStep } from "./plan.ts";

const asked = (name: string, world = healthy()): EngineSnapshot => ({ ...world, ...requested(name) });

const behind = (world: EngineSnapshot, ...ordinals: readonly number[]): EngineSnapshot =>
  ordinals.reduce((changed, ordinal) => withStatus(changed, ordinal, () => ({ ready: false })), world);

const pods = (world: EngineSnapshot, change: Partial<PodView>, ...ordinals: readonly number[]): EngineSnapshot =>
  ordinals.reduce((changed, ordinal) => withPod(changed, ordinal, change), world);

const cordoned = (world: EngineSnapshot, ...ordinals: readonly number[]): EngineSnapshot =>
  pods(world, { nodeSchedulable: false }, ...ordinals);

const stepsIn = (world: EngineSnapshot): readonly TendStep[] => {
  const { plan } = decide(world, now);
  assert.equal(plan.kind, "tend");
  return plan.steps;
};

/** te-1 leads the epoch that a request for it began; the others follow. */
const fulfilled = (): EngineSnapshot => {
  const rule = { members: ["te-0", "te-1", "te-2"], k: 1 };
  const base = healthy(3, { lease: leaseOf({ holder: "te-1", rule }) });
  const follow = { instance: "te-1", epoch: 3, connected: true, lastHeardMs: 20 };
  const standby = withStatus(base, 2, () => ({ upstream: follow }));
  const former = withStatus(pods(standby, { role: "standby" }, 0), 0, () => ({
    role: "standby",
    sync: null,
    upstream: follow,
  }));
  const leader = withReplica(former, 1, () => ({ stream: live(leads(1, [0, 2])) }));
  return asked("te-1", pods(leader, { role: "primary" }, 1));
};

describe("a request for a primary", () => {
  const granted: readonly [string, EngineSnapshot, string][] = [
    ["names a standby in sync", asked("te-2"), "te-2"],
    ["names one while another has not caught up", behind(asked("te-2"), 1), "te-2"],
    ["names one whose pod is outdated", pods(asked("te-2"), { outdated: true }, 2), "te-2"],
    ["names one on a node that takes no more pods: a person knows why", cordoned(asked("te-2"), 2), "te-2"],
    [
      "asks in mode Manual too",
      asked("te-1", { ...healthy(), spec: specOf({ failoverStrategy: { mode: "Manual" } }) }),
      "te-1",
    ],
  ];
  for (const [when, world, to] of granted)
    it(`is granted when it ${when}`, () => assert.equal(planned(world), `elect Requested in 4 prefer ${to}`));

  const waiting: readonly [string, EngineSnapshot][] = [
    ["has not caught up", behind(asked("te-2"), 2)],
    ["does not answer", silent(asked("te-2"), 2, 5_000)],
    ["has no pod", withReplica(asked("te-2"), 2, () => ({ pod: undefined, stream: undefined }))],
    ["is being deleted", pods(asked("te-2"), { terminating: true }, 2)],
  ];
  for (const [state, world] of waiting)
    it(`waits while the named replica ${state}`, () => assert.equal(planned(world), "rest"));

  it("is taken off once it is fulfilled, as it was when it was read", () => {
    assert.deepEqual(stepsIn(fulfilled()), [
      { kind: "dropRequest", annotation: annotations.switchoverTo, value: "te-1", refusal: undefined },
    ]);
  });

  it("is taken off before the primary moves on, or it would call the primary back for ever", () => {
    assert.equal(planned(cordoned(fulfilled(), 1)), "tend drop request");
    assert.equal(planned(pods(fulfilled(), { outdated: true }, 1)), "tend drop request");
    assert.equal(planned(cordoned({ ...fulfilled(), annotations: {} }, 1)), "elect PodLeaving in 4 prefer te-0");
  });

  for (const name of ["te-3", "te", "te-01", "", "other-0"])
    it(`is refused when there is no replica "${name}", with the names that there are`, () => {
      const [step] = stepsIn(asked(name));
      assert.equal(step?.kind, "dropRequest");
      assert.equal(step.value, name);
      assert.match(step.refusal ?? "", /is no replica of this engine; name one of te-0, te-1, te-2$/);
    });

  it("does not go to a replica whose place is removed", () => {
    assert.equal(planned({ ...asked("te-2"), spec: specOf({ replicas: 2 }) }), "changeRule k=1 of 2");
  });
});

describe("a request while the primary is dead and the mode is Manual", () => {
  const manual = { spec: specOf({ failoverStrategy: { mode: "Manual" } }) };
  const dead = (name: string): EngineSnapshot => ({ ...standbysLost(dropped(asked(name), 0)), ...manual });

  it("decides who comes next", () => assert.equal(planned(dead("te-2")), "elect ProcessExited in 4 prefer te-2"));

  it("may name the old primary, which may be back", () =>
    assert.equal(planned(dead("te-0")), "elect ProcessExited in 4 prefer te-0"));

  it("decides nothing when it names no replica: it is refused, and another is waited for", () => {
    const decision = decide(dead("te-7"), now);
    assert.equal(summary(decision), "tend refuse request blocked:ManualFailover");
  });
});

describe("a primary on a node that takes no more pods", () => {
  const moves: readonly [string, EngineSnapshot, string][] = [
    ["moves to a standby elsewhere", cordoned(healthy(), 0), "elect PodLeaving in 4 prefer te-1"],
    ["passes over a standby whose node is emptied too", cordoned(healthy(), 0, 1), "elect PodLeaving in 4 prefer te-2"],
    ["passes over a standby that is behind", behind(cordoned(healthy(), 0), 1), "elect PodLeaving in 4 prefer te-2"],
    ["stays when no standby elsewhere is in sync", behind(cordoned(healthy(), 0, 1), 2), "rest"],
    ["stays when all nodes are emptied: moving gains nothing", cordoned(healthy(), 0, 1, 2), "rest"],
    ["stays when it is the only replica", cordoned(healthy(1), 0), "rest"],
    ["goes where a person says all the same", cordoned(asked("te-2"), 0), "elect Requested in 4 prefer te-2"],
  ];
  for (const [what, world, expected] of moves) it(what, () => assert.equal(planned(world), expected));

  it("prefers a standby that a rollout would not touch again", () => {
    assert.equal(electionIn(pods(cordoned(healthy(), 0), { outdated: true }, 1)).prefer, "te-2");
  });

  it("is no reason while only a standby's node is emptied", () => {
    assert.equal(planned(cordoned(healthy(), 2)), "rest");
  });
});

describe("a primary that is leaving", () => {
  const leaving = (world = healthy()): EngineSnapshot => pods(world, { terminating: true }, 0);

  const reasons: readonly [string, EngineSnapshot][] = [
    ["its pod is being deleted", leaving()],
    ["its process drains by itself", withStatus(healthy(), 0, () => ({ role: "draining" }))],
  ];
  for (const [why, world] of reasons)
    it(`hands over when ${why}`, () => assert.equal(planned(world), "elect PodLeaving in 4 prefer te-1"));

  it("hands over to any standby in sync, also on a node that is emptied", () => {
    assert.equal(planned(cordoned(behind(leaving(), 1), 2)), "elect PodLeaving in 4 prefer te-2");
    assert.equal(planned(cordoned(leaving(), 1)), "elect PodLeaving in 4 prefer te-2");
  });

  it("hands over to the one that a person asked for, so that there is one pause and not two", () => {
    assert.equal(planned(leaving(asked("te-2"))), "elect PodLeaving in 4 prefer te-2");
    assert.equal(planned(behind(leaving(asked("te-2")), 2)), "elect PodLeaving in 4 prefer te-1");
  });

  it("goes on to trade for as long as it can while no standby is in sync", () => {
    assert.equal(planned(behind(leaving(), 1, 2)), "rest");
  });

  it("drains to exactly the standbys in sync", () => {
    const { drain } = electionIn(behind(leaving(healthy(5)), 2, 4));
    assert.deepEqual(drain?.rule, { members: ["te-0", "te-1", "te-3"], k: 2 });
    assert.equal(drain.primary.name, "te-0");
  });

  it("in a place that is removed hands over to one that stays", () => {
    const shrunk = {
      ...fulfilled(),
      annotations: {},
      spec: specOf({ replicas: 2, failoverStrategy: { syncStandbys: 1 } }),
    };
    assert.equal(planned(shrunk), "changeRule k=1 of 2", "te-1 stays");
    const spec = specOf({ replicas: 1, failoverStrategy: { syncStandbys: 0, durability: "Available" } });
    assert.equal(planned({ ...shrunk, spec }), "elect PodLeaving in 4 prefer te-0");
  });
});
