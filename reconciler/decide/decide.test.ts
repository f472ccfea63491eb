import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineSnapshot } from "../observe/index.ts";
import {
  dropped,
  healthy,
  leads,
  leaseOf,
  live,
  now,
  podName,
  silent,
  specOf,
  standbysLost,
  standbysSilent,
  statusOf,
  withPod,
  withReplica,
  withStatus,
} from "../testing/engineWorld.ts";
import { electionIn, fresh, planned, requested, summary } from "../testing/planSummary.ts";
import { decide } from "./decide.ts";

const dead = (): EngineSnapshot => standbysLost(dropped(healthy(), 0));
const manual = specOf({ failoverStrategy: { mode: "Manual" } });

describe("nothing to do", () => {
  it("a healthy engine is left alone", () => {
    assert.equal(planned(healthy()), "rest");
    assert.equal(planned(healthy(1)), "rest");
    assert.equal(planned(healthy(5)), "rest");
  });

  const handsOff: readonly [string, EngineSnapshot][] = [
    ["paused", { ...dead(), spec: specOf({ paused: true }) }],
    ["hibernated", { ...dead(), spec: specOf({ hibernate: true }) }],
    ["being deleted", { ...dead(), deleting: true }],
  ];
  for (const [state, world] of handsOff) it(`no failover while ${state}`, () => assert.equal(planned(world), "rest"));

  it("no failover while only our own path is cut", () => assert.equal(planned(silent(healthy(), 0, 5_000)), "rest"));

  it("looks again soon while the primary is suspected", () => {
    assert.ok(decide(dropped(healthy(), 0), now).recheckMs < decide(healthy(), now).recheckMs);
  });
});

describe("the first election", () => {
  it("is held once every replica answers and is blank", () => {
    const plan = electionIn(fresh());
    assert.equal(plan.cause, "Bootstrap");
    assert.equal(plan.epoch, 1);
    assert.equal(plan.leaseVersion, undefined);
    assert.deepEqual(plan.electorate, {
      rule: { members: ["te-0", "te-1", "te-2"], k: 1 },
      first: true,
      decisiveEpoch: 0,
    });
  });

  it("waits, without being called blocked, while a replica is missing", () => {
    assert.equal(planned(withReplica(fresh(), 2, () => ({ pod: undefined, stream: undefined }))), "rest");
    assert.equal(planned(withStatus(fresh(), 2, () => ({ role: "recovering", blank: false }))), "rest");
  });

  it("is begun anew when the initiator died after the lock", () => {
    const lease = leaseOf({ holder: "", epoch: 1, established: false });
    const promised = [0, 1, 2].reduce(
      (world, ordinal) =>
        withStatus(world, ordinal, () => ({ role: "fenced", epoch: { current: 0, promised: 1, startSeq: 0 } })),
      fresh(3, { lease }),
    );
    assert.equal(planned(promised), "elect Bootstrap in 2");
  });

  it("never makes an empty replica primary once an epoch has traded", () => {
    const world = fresh(3, { published: { epoch: 4 } });
    assert.equal(planned(world), "rest blocked:NoCandidate");
    assert.equal(planned(fresh(3, { lease: leaseOf({ holder: "", epoch: 4 }) })), "rest blocked:NoCandidate");
  });

  it("takes up volumes that were kept: their history needs n - k of the replicas", () => {
    const kept = withStatus(
      withStatus(fresh(), 0, () => statusOf(0)),
      1,
      () => statusOf(1),
    );
    assert.equal(planned(kept), "elect Resumed in 4");
    const one = withStatus(fresh(), 0, () => statusOf(0));
    assert.equal(planned(one), "rest blocked:ReplicaNotBlank");
  });
});

describe("the death of a primary", () => {
  it("is followed by an election in the next epoch", () => {
    const plan = electionIn(dead());
    assert.equal(plan.cause, "ProcessExited");
    assert.equal(plan.from, "te-0");
    assert.equal(plan.epoch, 4);
    assert.equal(plan.leaseVersion, "7");
    assert.equal(plan.drain, undefined);
    assert.deepEqual(
      plan.participants.map(({ name, answers }) => [name, answers]),
      [
        ["te-0", false],
        ["te-1", true],
        ["te-2", true],
      ],
    );
  });

  it("counts the epoch from the highest that anything knows of", () => {
    const promised = withStatus(dead(), 2, () => ({ epoch: { current: 3, promised: 9, startSeq: 90 } }));
    assert.equal(electionIn(promised).epoch, 10);
    assert.equal(electionIn({ ...dead(), published: { epoch: 12 } }).epoch, 13);
    assert.equal(electionIn({ ...dead(), lease: leaseOf({ epoch: 3 }) }).epoch, 4);
  });

  const blocked: readonly [string, EngineSnapshot, string, RegExp][] = [
    [
      "one of two standbys is gone too",
      withReplica(dead(), 2, () => ({ stream: undefined, pod: undefined })),
      "rest blocked:NotEnoughPromises",
      /2 of 3 replicas.*or te-0 itself.*1 can.*te-0 does not answer \(reset\); te-2 has no pod/,
    ],
    [
      "one of two standbys lost its volume",
      withStatus(dead(), 2, () => ({ blank: true })),
      "rest blocked:ReplicaNotBlank",
      /te-2 is empty/,
    ],
    [
      "one of two standbys reads its journal",
      withStatus(dead(), 2, () => ({ role: "recovering" })),
      "rest blocked:NotEnoughPromises",
      /te-2 is recovering/,
    ],
    [
      "a person wants to decide",
      { ...dead(), spec: manual },
      "rest blocked:ManualFailover",
      /kubectl annotate te te enginekeeper\.dev\/switchover-to=POD/,
    ],
  ];
  for (const [when, world, expected, words] of blocked)
    it(`is not acted on when ${when}`, () => {
      const decision = decide(world, now);
      assert.equal(summary(decision), expected);
      assert.match(decision.blocked?.message ?? "", words);
    });

  it("is acted on in mode Manual when a person names the next primary", () => {
    assert.equal(planned({ ...dead(), spec: manual, ...requested("te-2") }), "elect ProcessExited in 4 prefer te-2");
  });

  it("is acted on with a single answer when that is the old primary's", () => {
    const alone = withReplica(
      withReplica(healthy(), 1, () => ({ stream: undefined })),
      2,
      () => ({ stream: undefined }),
    );
    const restarted = withStatus(alone, 0, () => ({ role: "standby", sync: null }));
    assert.equal(planned(restarted), "elect ProcessRestarted in 4");
    assert.equal(electionIn(restarted).electorate.decisiveEpoch, 3);
  });

  it("is not settled by the old primary alone when a later election may have made another one", () => {
    const alone = withReplica(
      withReplica(healthy(), 1, () => ({ stream: undefined })),
      2,
      () => ({ stream: undefined }),
    );
    const restarted = withStatus(alone, 0, () => ({ role: "standby", sync: null }));
    const interrupted = { ...restarted, lease: leaseOf({ holder: "", epoch: 4 }) };
    assert.equal(planned(interrupted), "rest blocked:NotEnoughPromises");
  });

  it("is decided by the rule that the epoch ran with, not by the one that is wished for now", () => {
    const wished = specOf({ replicas: 3, failoverStrategy: { syncStandbys: 2 } });
    const oneStandby = withReplica(dead(), 2, () => ({ stream: undefined }));
    const world = { ...oneStandby, spec: wished };
    assert.equal(planned(world), "rest blocked:NotEnoughPromises", "k was 1: the lost standby may hold the only copy");
    const ranWithTwo = { ...world, lease: leaseOf({ rule: { members: ["te-0", "te-1", "te-2"], k: 2 } }) };
    assert.equal(planned(ranWithTwo), "elect ProcessExited in 4");
  });

  const sizes: readonly [n: number, k: number, standbysThatAnswer: number, acted: boolean][] = [
    [2, 1, 1, true],
    [2, 1, 0, false],
    [3, 1, 2, true],
    [3, 1, 1, false],
    [3, 2, 1, true],
    [4, 1, 2, false],
    [4, 2, 2, true],
    [5, 2, 3, true],
    [5, 2, 2, false],
    [5, 4, 1, true],
  ];
  for (const [n, k, answering, acted] of sizes)
    it(`needs ${n - k} of ${n} with k=${k}: ${answering} ${acted ? "are enough" : "are too few"}`, () => {
      const rule = { members: Array.from({ length: n }, (_, ordinal) => podName(ordinal)), k };
      const spec = specOf({ replicas: n, failoverStrategy: { syncStandbys: k } });
      const all = standbysLost(dropped(healthy(n, { spec, lease: leaseOf({ rule }) }), 0, "refused"));
      const world = Array.from({ length: n - 1 - answering }, (_, index) => n - 1 - index).reduce(
        (changed, ordinal) => withReplica(changed, ordinal, () => ({ stream: undefined })),
        withReplica(all, 0, () => ({ pod: undefined, stream: undefined })),
      );
      assert.equal(planned(world).startsWith("elect PodDeleted"), acted, planned(world));
    });
});

describe("silence", () => {
  it("of the primary to everybody is acted on", () => {
    assert.equal(planned(standbysSilent(silent(healthy(), 0, 1_200), 1_200)), "elect Silent in 4");
  });
});

describe("a write stall", () => {
  const stalled = withStatus(healthy(), 0, () => ({ writePath: { stalled: true, lastSyncAgeMs: 4_000 } }));

  it("is acted on, without the stalled replica", () => {
    const plan = electionIn(stalled);
    assert.equal(plan.cause, "WriteStalled");
    assert.deepEqual(plan.avoid, ["te-0"]);
  });

  it("is acted on once in a while only", () => {
    assert.equal(planned({ ...stalled, lastStallFailoverAt: now - 30_000 }), "rest");
    assert.equal(planned({ ...stalled, lastStallFailoverAt: now - 90_000 }), "elect WriteStalled in 4");
  });

  it("is not acted on when the others are too few without it", () => {
    assert.equal(planned(withReplica(stalled, 2, () => ({ stream: undefined }))), "rest");
  });
});

describe("a record that ends every replica that applies it", () => {
  const poisoned = (seq: number) => ({ lastExit: { exitCode: 70, reason: "Error", message: `{"seq":${seq}}` } });

  it("is not given to a third", () => {
    const world = withPod(withPod(dead(), 0, poisoned(123)), 1, poisoned(123));
    assert.equal(planned(world), "rest blocked:RecordStopsReplicas");
  });

  it("is not assumed from two different records", () => {
    const world = withPod(withPod(dead(), 0, poisoned(123)), 1, poisoned(124));
    assert.equal(planned(world), "elect ProcessExited in 4");
  });
});

describe("a half-done election", () => {
  it("is completed when a replica leads exactly the Lease's epoch", () => {
    assert.equal(planned(healthy(3, { lease: leaseOf({ holder: "" }) })), "record te-0 in 3");
  });

  it("is started over otherwise", () => {
    const nobody = withStatus(healthy(3, { lease: leaseOf({ holder: "", epoch: 4 }) }), 0, () => ({
      role: "fenced",
      sync: null,
    }));
    assert.equal(planned(nobody), "elect Resumed in 5");
  });
});

describe("replicas around a primary", () => {
  it("follow it: one that follows nobody, another one, or an older epoch is told to", () => {
    const upstream = { instance: "te-0", epoch: 3, connected: true, lastHeardMs: 1 };
    for (const wrong of [null, { ...upstream, instance: "te-2" }, { ...upstream, epoch: 2 }])
      assert.equal(planned(withStatus(healthy(), 1, () => ({ upstream: wrong }))), "tend te-1 follows te-0");
    assert.equal(
      planned(withStatus(healthy(), 1, () => ({ upstream: null, role: "fenced" }))),
      "tend te-1 follows te-0",
    );
  });

  it("are left alone while they read their journal, or have failed", () => {
    for (const role of ["recovering", "failed", "halted"] as const)
      assert.equal(planned(withStatus(healthy(), 1, () => ({ upstream: null, role }))), "rest");
  });

  it("are fenced when they lead an older epoch, and follow only then", () => {
    assert.equal(
      planned(withReplica(healthy(), 1, () => ({ stream: live(leads(1, [0, 2], 1, 2)) }))),
      "tend fence te-1 at 3",
    );
  });

  it("get the right labels, the old route being removed first", () => {
    const mixed = withPod(withPod(healthy(), 0, { role: "standby" }), 2, { role: "primary" });
    assert.equal(planned(mixed), "tend label te-2 standby, label te-0 primary");
    assert.equal(planned(withPod(healthy(), 1, { role: undefined })), "tend label te-1 standby");
  });
});
