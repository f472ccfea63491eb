import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineSnapshot } from "../observe/index.ts";
import {
  blankStatus,
  dropped,
  healthy,
  leads,
  leaseOf,
  live,
  now,
  podName,
  podOf,
  replicaOf,
  silent,
  specOf,
  standbysLost,
  standbysSilent,
  statusOf,
  withPod,
  withReplica,
  withStatus,
  worldOf,
} from "../testing/engineWorld.ts";
import { decide } from "./decide.ts";
import type { Decision, ElectionPlan, TendStep } from "./plan.ts";

/** A plan in one line, so that a table can be read. */
const summary = ({ plan, blocked }: Decision): string => {
  const why = blocked === undefined ? "" : ` blocked:${blocked.reason}`;
  switch (plan.kind) {
    case "rest":
      return `rest${why}`;
    case "tend":
      return `tend ${plan.steps.map(stepSummary).join(", ")}${why}`;
    case "record":
      return `record ${plan.primary} in ${plan.epoch}`;
    case "changeRule":
      return `changeRule k=${plan.to.k} of ${plan.to.members.length}`;
    case "elect":
      return `elect ${plan.cause} in ${plan.epoch}${plan.prefer === undefined ? "" : ` prefer ${plan.prefer}`}`;
  }
};

const stepSummary = (step: TendStep): string => {
  switch (step.kind) {
    case "fence":
      return `fence ${step.replica.name} at ${step.epoch}`;
    case "follow":
      return `${step.replica.name} follows ${step.upstream.name}`;
    case "label":
      return `label ${step.pod} ${step.role}`;
    case "deletePod":
      return `delete ${step.pod}`;
    case "dropRequest":
      return step.refusal === undefined ? "drop request" : "refuse request";
  }
};

const planned = (world: EngineSnapshot): string => summary(decide(world, now));

const electionIn = (world: EngineSnapshot): ElectionPlan => {
  const { plan } = decide(world, now);
  assert.equal(plan.kind, "elect", JSON.stringify(plan));
  return plan;
};

/** n replicas that were just created. */
const fresh = (n = 3, overrides: Parameters<typeof worldOf>[1] = {}): EngineSnapshot =>
  worldOf(
    Array.from({ length: n }, (_, ordinal) =>
      replicaOf(ordinal, live(blankStatus(ordinal)), podOf(ordinal, { role: undefined })),
    ),
    { lease: undefined, published: undefined, ...overrides },
  );

const dead = (): EngineSnapshot => standbysLost(dropped(healthy(), 0));
const manual = specOf({ failoverStrategy: { mode: "Manual" } });
const requested = (pod: string): Pick<EngineSnapshot, "annotations"> => ({
  annotations: { "enginekeeper.dev/switchover-to": pod },
});

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

describe("a planned move", () => {
  it("goes where a person asks for, with every order on all standbys in sync first", () => {
    const plan = electionIn({ ...healthy(), ...requested("te-2") });
    assert.equal(summary({ plan, blocked: undefined } as Decision), "elect Requested in 4 prefer te-2");
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
