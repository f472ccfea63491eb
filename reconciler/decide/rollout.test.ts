import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ContainerState, EngineSnapshot, PodView } from "../observe/index.ts";
import {
  dropped,
  healthy,
  silent,
  specOf,
  standbysLost,
  withPod,
  withReplica,
  withStatus,
} from "../testing/engineWorld.ts";
import { electionIn, planned } from "../testing/planSummary.ts";

type Change = (world: EngineSnapshot) => EngineSnapshot;

const changed = (world: EngineSnapshot, ...changes: readonly Change[]): EngineSnapshot =>
  changes.reduce((before, change) => change(before), world);

const pod =
  (ordinal: number, change: Partial<PodView>): Change =>
  (world) =>
    withPod(world, ordinal, change);

const outdated =
  (...ordinals: readonly number[]): Change =>
  (world) =>
    changed(world, ...ordinals.map((ordinal) => pod(ordinal, { outdated: true })));

const unheard =
  (ordinal: number): Change =>
  (world) =>
    withReplica(world, ordinal, () => ({ stream: undefined }));

const missing =
  (ordinal: number): Change =>
  (world) =>
    withReplica(world, ordinal, () => ({ pod: undefined, stream: undefined }));

/** Runs, but has not caught up: neither it nor the kubelet calls it ready. */
const behind =
  (ordinal: number): Change =>
  (world) =>
    changed(world, pod(ordinal, { ready: false }), (before) => withStatus(before, ordinal, () => ({ ready: false })));

const waiting = (reason: string): ContainerState => ({ kind: "waiting", reason, message: "" });

const exited: ContainerState = { kind: "terminated", exitCode: 1, reason: "Error", message: "" };

const broken =
  (ordinal: number, container: ContainerState = waiting("ImagePullBackOff")): Change =>
  (world) =>
    changed(world, unheard(ordinal), pod(ordinal, { outdated: true, ready: false, container }));

const primaryDied: Change = (world) => standbysLost(dropped(world, 0));

describe("an outdated pod in which no process runs", () => {
  const states: readonly [string, ContainerState][] = [
    ["its image cannot be pulled", waiting("ImagePullBackOff")],
    ["it crashes over and over", waiting("CrashLoopBackOff")],
    ["its container ended", exited],
    ["no node takes it", { kind: "unknown" }],
  ];
  for (const [why, container] of states)
    it(`is replaced at once: ${why}`, () =>
      assert.equal(planned(changed(healthy(), broken(1, container))), "tend delete te-1"));

  const whatever: readonly [string, readonly Change[], string][] = [
    ["another standby is not in sync", [broken(1), behind(2)], "tend delete te-1"],
    ["another pod terminates", [broken(1), pod(2, { terminating: true })], "tend delete te-1"],
    ["other pods are broken too", [broken(1), broken(2)], "tend delete te-1, delete te-2"],
    ["the primary is only suspected", [broken(1), (world) => dropped(world, 0)], "tend delete te-1"],
    ["we do not hear the primary", [broken(1), (world) => silent(world, 0, 5_000)], "tend delete te-1"],
    [
      "the primary is dead and nobody can follow it",
      [broken(1), primaryDied],
      "tend delete te-1 blocked:NotEnoughPromises",
    ],
  ];
  for (const [when, changes, expected] of whatever)
    it(`is replaced although ${when}`, () => assert.equal(planned(changed(healthy(), ...changes)), expected));

  const spared: readonly [string, readonly Change[]][] = [
    ["it is made from the present template: its container is restarted", [broken(1), pod(1, { outdated: false })]],
    ["it is on its way out already", [broken(1), pod(1, { terminating: true })]],
    ["the engine is paused", [broken(1), (world) => ({ ...world, spec: specOf({ paused: true }) })]],
  ];
  for (const [when, changes] of spared)
    it(`is left alone when ${when}`, () => assert.equal(planned(changed(healthy(), ...changes)), "rest"));

  it("is not one whose process answers: the kubelet's report is late", () => {
    const stale = { outdated: true, container: waiting("ContainerCreating") };
    assert.equal(planned(changed(healthy(), pod(0, stale), behind(2))), "rest", "the primary moves first");
    assert.equal(planned(changed(healthy(), pod(1, stale), behind(2))), "rest", "one standby at a time");
    assert.equal(
      planned(changed(healthy(), pod(1, stale), (world) => silent(world, 1, 5_000), behind(2))),
      "tend delete te-1",
      "an open connection that carries nothing is no answer",
    );
  });
});

describe("a rollout", () => {
  const order: readonly [string, readonly number[], string][] = [
    ["begins with the first standby", [0, 1, 2, 3, 4], "tend delete te-1"],
    ["goes on with the next", [0, 2, 3, 4], "tend delete te-2"],
    ["takes whichever standby is left", [0, 4], "tend delete te-4"],
    ["moves the primary when only its pod is left", [0], "elect Rollout in 4 prefer te-1"],
    ["replaces standbys also when the primary's pod is new", [3], "tend delete te-3"],
    ["ends", [], "rest"],
  ];
  for (const [what, ordinals, expected] of order)
    it(what, () => assert.equal(planned(changed(healthy(5), outdated(...ordinals))), expected));

  it("replaces one standby at a time, and no two", () => {
    const after = [1, 2].map((gone) =>
      planned(changed(healthy(), outdated(0, 1, 2), pod(gone, { terminating: true }))),
    );
    assert.deepEqual(after, ["rest", "rest"]);
  });

  const notYet: readonly [string, Change][] = [
    ["terminates", pod(1, { terminating: true })],
    ["is gone", missing(1)],
    ["does not answer", unheard(1)],
    ["was not heard for the detection time", (world) => silent(world, 1, 5_000)],
    ["has not caught up", behind(1)],
    ["is in sync by its own word, but not Ready by the kubelet's", pod(1, { ready: false })],
    [
      "lost its connection to the primary",
      (world) => withStatus(world, 1, ({ upstream }) => ({ upstream: upstream && { ...upstream, connected: false } })),
    ],
  ];
  for (const [state, change] of notYet) {
    it(`leaves a standby alone while another ${state}`, () =>
      assert.equal(planned(changed(healthy(), outdated(0, 2), change)), "rest"));
    it(`leaves the primary alone while a standby ${state}`, () =>
      assert.equal(planned(changed(healthy(), outdated(0), change)), "rest"));
  }

  it("replaces the standby that is not in sync first: its old template may be what keeps it from that", () => {
    assert.equal(planned(changed(healthy(), outdated(0, 1, 2), behind(2))), "tend delete te-2");
    assert.equal(planned(changed(healthy(), outdated(0, 1, 2), behind(1))), "tend delete te-1");
    assert.equal(planned(changed(healthy(), outdated(0, 1, 2), behind(1), behind(2))), "rest");
  });

  it("replaces no standby while the primary is leaving: it is moved", () => {
    const leaving = changed(healthy(), outdated(0, 1, 2), pod(0, { terminating: true }));
    assert.equal(planned(leaving), "elect PodLeaving in 4 prefer te-1");
    const stuck = changed(healthy(2), outdated(0, 1), pod(0, { terminating: true }), behind(1));
    assert.equal(planned(stuck), "rest");
  });

  it("corrects a replica that follows nobody before it goes on", () => {
    const lost = changed(healthy(), outdated(0, 2), (world) => withStatus(world, 1, () => ({ upstream: null })));
    assert.equal(planned(lost), "tend te-1 follows te-0");
  });
});

describe("a rollout of two replicas", () => {
  it("replaces the standby, waits for it, and moves the primary", () => {
    assert.equal(planned(changed(healthy(2), outdated(0, 1))), "tend delete te-1");
    assert.equal(planned(changed(healthy(2), outdated(0, 1), pod(1, { terminating: true }))), "rest");
    assert.equal(planned(changed(healthy(2), outdated(0), behind(1))), "rest");
    assert.equal(planned(changed(healthy(2), outdated(0))), "elect Rollout in 4 prefer te-1");
  });
});

describe("a rollout of the only replica", () => {
  it("deletes its pod, since none can take over first", () => {
    assert.equal(planned(changed(healthy(1), outdated(0))), "tend delete te-0");
  });

  it("deletes it once", () => {
    assert.equal(planned(changed(healthy(1), outdated(0), pod(0, { terminating: true }))), "rest");
  });

  it("waits until a replica whose place is removed is gone: it is neither the only one nor a successor", () => {
    const one = changed(healthy(1), outdated(0));
    const [, surplus] = healthy(2).replicas;
    assert.ok(surplus);
    assert.equal(planned({ ...one, replicas: [...one.replicas, surplus] }), "rest");
    assert.equal(planned(one), "tend delete te-0");
  });
});

describe("the move of the primary in a rollout", () => {
  it("drains to every standby first and avoids the old pod", () => {
    const plan = electionIn(changed(healthy(5), outdated(0)));
    assert.equal(plan.from, "te-0");
    assert.deepEqual(plan.avoid, ["te-0"]);
    assert.deepEqual(plan.drain?.rule, { members: ["te-0", "te-1", "te-2", "te-3", "te-4"], k: 4 });
  });

  it("prefers a standby on a node that takes pods", () => {
    const plan = electionIn(changed(healthy(), outdated(0), pod(1, { nodeSchedulable: false })));
    assert.equal(plan.prefer, "te-2");
  });
});
