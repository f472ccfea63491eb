import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineSnapshot } from "../observe/index.ts";
import { healthy, leads, leaseOf, live, specOf, withPod, withReplica, withStatus } from "../testing/engineWorld.ts";
import { electionIn, fresh, planned, requested, summary } from "../testing/planSummary.ts";

describe("a planned move", () => {
  it("goes where a person asks for, with every order on all standbys in sync first", () => {
    const plan = electionIn({ ...healthy(), ...requested("te-2") });
    assert.equal(summary({ plan, blocked: undefined }), "elect Requested in 4 prefer te-2");
    assert.deepEqual(plan.drain?.rule, { members: ["te-0", "te-1", "te-2"], k: 2 });
    assert.equal(plan.drain.epoch, 3);
    assert.equal(plan.drain.version, 2);
    assert.deepEqual(plan.avoid, ["te-0"]);
  });

  it("waits while the wanted replica is not in sync", () => {
    const behind = withStatus({ ...healthy(), ...requested("te-2") }, 2, () => ({ ready: false }));
    assert.equal(planned(behind), "rest");
  });

  it("is forgotten once it is done, and refused when there is no such replica", () => {
    assert.equal(planned({ ...healthy(), ...requested("te-0") }), "tend drop request");
    assert.equal(planned({ ...healthy(), ...requested("te-7") }), "tend refuse request");
  });

  it("leaves a pod that is being deleted, or a node that takes no more pods", () => {
    assert.equal(planned(withPod(healthy(), 0, { terminating: true })), "elect PodLeaving in 4 prefer te-1");
    assert.equal(planned(withPod(healthy(), 0, { nodeSchedulable: false })), "elect PodLeaving in 4 prefer te-1");
  });

  it("does not leave a node when every other one takes no pods either", () => {
    const cordoned = [0, 1, 2].reduce(
      (world, ordinal) => withPod(world, ordinal, { nodeSchedulable: false }),
      healthy(),
    );
    assert.equal(planned(cordoned), "rest");
  });
});

describe("a rollout", () => {
  const outdated = (...ordinals: readonly number[]): EngineSnapshot =>
    ordinals.reduce((world, ordinal) => withPod(world, ordinal, { outdated: true }), healthy());

  it("replaces the standbys one after the other, then moves the primary, then replaces the last pod", () => {
    assert.equal(planned(outdated(0, 1, 2)), "tend delete te-1");
    assert.equal(planned(outdated(0, 2)), "tend delete te-2");
    assert.equal(planned(outdated(0)), "elect Rollout in 4 prefer te-1");
  });

  it("waits for the replaced standby to be in sync again", () => {
    const missing = withReplica(outdated(0, 2), 1, () => ({ pod: undefined, stream: undefined }));
    const behind = withStatus(outdated(0, 2), 1, () => ({ ready: false }));
    for (const world of [missing, behind]) assert.equal(planned(world), "rest");
    assert.equal(planned(withPod(outdated(0, 1, 2), 1, { terminating: true })), "rest");
  });

  it("replaces what never ran at once, also without a primary", () => {
    const broken = { outdated: true, container: { kind: "waiting", reason: "ImagePullBackOff", message: "" } } as const;
    const world = [0, 1, 2].reduce(
      (changed, ordinal) =>
        withPod(
          withReplica(changed, ordinal, () => ({ stream: undefined })),
          ordinal,
          broken,
        ),
      fresh(),
    );
    assert.equal(planned(world), "tend delete te-0, delete te-1, delete te-2");
  });

  it("replaces a crash-looping pod although another standby is not in sync", () => {
    const crashing = withPod(outdated(), 1, {
      outdated: true,
      container: { kind: "waiting", reason: "CrashLoopBackOff", message: "" },
    });
    const world = withStatus(
      withReplica(crashing, 1, () => ({ stream: undefined })),
      2,
      () => ({ ready: false }),
    );
    assert.equal(planned(world), "tend delete te-1");
  });

  it("restarts the only replica, since none can take over", () => {
    assert.equal(planned(withPod(healthy(1), 0, { outdated: true })), "tend delete te-0");
  });
});

describe("another commit rule", () => {
  const scaled = (n: number, k: number): EngineSnapshot["spec"] =>
    specOf({ replicas: n, failoverStrategy: { syncStandbys: k } });

  it("is given to the primary while it leads", () => {
    const world = { ...healthy(), spec: scaled(3, 2) };
    assert.equal(planned(world), "changeRule k=2 of 3");
  });

  it("waits until new members have caught up", () => {
    const five = healthy(5);
    const world = withStatus({ ...five, spec: scaled(5, 1), lease: healthy(3).lease }, 4, () => ({ ready: false }));
    assert.equal(planned(world), "rest");
    assert.equal(planned({ ...five, spec: scaled(5, 1), lease: healthy(3).lease }), "changeRule k=1 of 5");
  });

  it("waits until enough are in sync to go on under it", () => {
    const world = withStatus({ ...healthy(), spec: scaled(3, 2) }, 2, () => ({ ready: false }));
    assert.equal(planned(world), "rest");
  });

  it("is completed when the initiator died between the primary and the Lease", () => {
    const between = leaseOf({ rule: { members: ["te-0", "te-1", "te-2"], k: 1 } });
    const world = withReplica({ ...healthy(), spec: scaled(3, 2), lease: between }, 0, () => ({
      stream: live(leads(0, [1, 2], 2)),
    }));
    assert.equal(planned(world), "changeRule k=2 of 3");
  });

  it("is restored after a planned move that was given up", () => {
    assert.equal(
      planned(withReplica(healthy(), 0, () => ({ stream: live(leads(0, [1, 2], 2)) }))),
      "changeRule k=1 of 3",
    );
  });
});
