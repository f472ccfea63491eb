import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineStatus } from "../../api/contract/v1.ts";
import type { EngineSnapshot } from "../observe/index.ts";
import {
  blankStatus,
  healthy,
  leads,
  live,
  now,
  podOf,
  replicaOf,
  silent,
  specOf,
  withPod,
  withReplica,
  withStatus,
} from "../testing/engineWorld.ts";
import { planned } from "../testing/planSummary.ts";
import { alignLabels, alignReplicas } from "./tend.ts";

/** Names and targets of what te-0, leading epoch 3, has done to its replicas. */
const aligned = (world: EngineSnapshot): readonly string[] =>
  alignReplicas(world, "te-0", 3, now).map((step) => {
    switch (step.kind) {
      case "fence":
        return `fence ${step.replica.pod.uid} at ${step.epoch}`;
      case "follow":
        return `${step.replica.pod.uid} follows ${step.upstream.pod.uid} in ${step.epoch}`;
      default:
        return step.kind;
    }
  });

const labelled = (world: EngineSnapshot): readonly string[] =>
  alignLabels(world, "te-0").map((step) => (step.kind === "label" ? `${step.uid} ${step.role}` : step.kind));

const upstream = { instance: "te-0", epoch: 3, connected: true, lastHeardMs: 1 };

describe("a replica beside the primary", () => {
  const table: readonly [string, Partial<EngineStatus>, readonly string[]][] = [
    ["follows it already", {}, []],
    ["follows it and is connecting", { upstream: { ...upstream, connected: false } }, []],
    ["follows nobody", { upstream: null }, ["uid-1 follows uid-0 in 3"]],
    ["follows another replica", { upstream: { ...upstream, instance: "te-2" } }, ["uid-1 follows uid-0 in 3"]],
    ["follows it in an older epoch", { upstream: { ...upstream, epoch: 2 } }, ["uid-1 follows uid-0 in 3"]],
    ["was fenced", { role: "fenced", upstream: null }, ["uid-1 follows uid-0 in 3"]],
    ["leads", { role: "primary", upstream: null }, ["fence uid-1 at 3"]],
    ["leads and drains", { role: "draining", upstream: null }, ["fence uid-1 at 3"]],
    ["reads its journal, and would refuse", { role: "recovering", upstream: null }, []],
    ["halted, which needs a person", { role: "halted", upstream: null }, []],
    ["failed, which needs a new process", { role: "failed", upstream: null }, []],
  ];
  for (const [what, status, expected] of table)
    it(`that ${what}: ${expected.length === 0 ? "nothing" : expected.join()}`, () =>
      assert.deepEqual(aligned(withStatus(healthy(), 1, () => status)), expected));

  it("that is new and empty is told to follow: that is how it is filled", () => {
    assert.deepEqual(aligned(withReplica(healthy(), 1, () => ({ stream: live(blankStatus(1)) }))), [
      "uid-1 follows uid-0 in 3",
    ]);
  });

  it("that does not answer is not called", () => {
    const lost = withStatus(healthy(), 1, () => ({ upstream: null }));
    assert.deepEqual(aligned(silent(lost, 1, 5_000)), []);
    assert.deepEqual(aligned(withPod(lost, 1, { ip: undefined })), []);
  });

  it("that answers with another's name is a stranger on a reused address", () => {
    assert.deepEqual(aligned(withStatus(healthy(), 1, () => ({ instance: "other-1", upstream: null }))), []);
  });

  it("is aligned together with all others", () => {
    const lost = [1, 2].reduce((world, ordinal) => withStatus(world, ordinal, () => ({ upstream: null })), healthy());
    assert.deepEqual(aligned(lost), ["uid-1 follows uid-0 in 3", "uid-2 follows uid-0 in 3"]);
  });

  it("is not told to follow a primary that has no address", () => {
    const lost = withStatus(withPod(healthy(), 0, { ip: undefined }), 1, () => ({ upstream: null }));
    assert.deepEqual(aligned(lost), []);
  });

  it("that led before is fenced first, and follows in a later pass", () => {
    const stale = withReplica(healthy(), 1, () => ({ stream: live(leads(1, [0, 2], 1, 2)) }));
    assert.equal(planned(stale), "tend fence te-1 at 3");
    const fenced = withStatus(stale, 1, () => ({ role: "fenced", sync: null }));
    assert.equal(planned(fenced), "tend te-1 follows te-0");
  });
});

describe("the role labels", () => {
  const table: readonly [string, readonly (string | undefined)[], readonly string[]][] = [
    ["are right", ["primary", "standby", "standby"], []],
    ["are missing", [undefined, undefined, undefined], ["uid-1 standby", "uid-2 standby", "uid-0 primary"]],
    ["are of the last epoch", ["standby", "primary", "standby"], ["uid-1 standby", "uid-0 primary"]],
    ["name two primaries", ["primary", "primary", "standby"], ["uid-1 standby"]],
    ["say what nobody of ours writes", ["leader", "standby", "standby"], ["uid-0 primary"]],
  ];
  for (const [what, roles, expected] of table)
    it(`that ${what}: ${expected.length === 0 ? "nothing" : expected.join(", ")}`, () => {
      const world = roles.reduce((changed, role, ordinal) => withPod(changed, ordinal, { role }), healthy());
      assert.deepEqual(labelled(world), expected);
    });

  it("are not written to a pod that is gone", () => {
    assert.deepEqual(labelled(withReplica(healthy(), 1, () => ({ pod: undefined }))), []);
  });

  it("never lead to a replica whose place is removed", () => {
    const world = healthy();
    const surplus = replicaOf(3, undefined, podOf(3, { role: undefined }));
    assert.deepEqual(labelled({ ...world, replicas: [...world.replicas, surplus] }), ["uid-3 standby"]);
  });

  it("are corrected whatever the replica's state: a route is not a copy", () => {
    const world = withPod(
      withStatus(healthy(), 1, () => ({ role: "failed" })),
      1,
      { role: "primary" },
    );
    assert.equal(planned(world), "tend label te-1 standby");
  });
});

describe("corrections", () => {
  it("go before anything that a person wishes for", () => {
    const spec = specOf({ failoverStrategy: { syncStandbys: 2 } });
    assert.equal(planned({ ...withPod(healthy(), 1, { role: undefined }), spec }), "tend label te-1 standby");
  });

  it("are not made around a primary that is only suspected", () => {
    const world = silent(
      withPod(
        withStatus(healthy(), 1, () => ({ upstream: null })),
        1,
        { role: undefined },
      ),
      0,
      5_000,
    );
    assert.equal(planned(world), "rest");
  });
});
