import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { annotations } from "../../api/names.ts";
import type { Condition, ConditionType, TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import { tradingEngineStatus } from "../../api/tradingEngine/status.ts";
import { decide } from "../decide/index.ts";
import type { EngineSnapshot, PodView } from "../observe/index.ts";
import {
  blankStatus,
  dropped,
  healthy,
  leaseOf,
  live,
  now,
  podOf,
  replicaOf,
  silent,
  specOf,
  standbysLost,
  withPod,
  withReplica,
  withStatus,
  worldOf,
} from "../testing/engineWorld.ts";
import { buildStatus, isWorthPublishing } from "./index.ts";

const wall = "2026-12-01T05:00:00.000Z";

const statusOf = (snapshot: EngineSnapshot, before?: TradingEngineStatus): TradingEngineStatus => {
  const decision = decide(snapshot, now);
  const status = buildStatus({ snapshot, decision, now, wall, before, lastFailover: undefined });
  assert.ok(tradingEngineStatus.safeParse(status).success, "the API server would take it");
  return status;
};

const conditionIn = (status: TradingEngineStatus, type: ConditionType): Condition => {
  const found = status.conditions?.find((condition) => condition.type === type);
  assert.ok(found !== undefined, `there is a condition ${type}`);
  return found;
};

/** `Type=Status/Reason` of some conditions. */
const summary = (snapshot: EngineSnapshot, ...types: readonly ConditionType[]): string => {
  const status = statusOf(snapshot);
  const parts = types
    .map((type) => conditionIn(status, type))
    .map(({ type, status: is, reason }) => `${type}=${is}/${reason}`);
  return [status.phase, ...parts].join(" ");
};

/** Three replicas that were just created, none of which runs. */
const starting = (pod: Partial<PodView>, overrides: Parameters<typeof worldOf>[1] = {}): EngineSnapshot =>
  worldOf(
    [0, 1, 2].map((ordinal) =>
      replicaOf(ordinal, undefined, podOf(ordinal, { ready: false, phase: "Pending", ...pod })),
    ),
    { lease: undefined, published: undefined, ...overrides },
  );

const waitingFor = (reason: string, message = ""): Partial<PodView> => ({
  container: { kind: "waiting", reason, message },
});
const exited = (exitCode: number, message = ""): Partial<PodView> => ({
  ...waitingFor("CrashLoopBackOff"),
  lastExit: { exitCode, reason: "Error", message },
  restarts: 1,
});

interface Row {
  readonly when: string;
  readonly world: EngineSnapshot;
  readonly says: string;
  readonly about: readonly ConditionType[];
}

const table: readonly Row[] = [
  {
    when: "all is well",
    world: healthy(),
    about: ["Ready", "PrimaryAvailable", "Redundant", "Progressing", "PromotionBlocked", "ControlPathDegraded"],
    says: "Trading Ready=True/Trading PrimaryAvailable=True/Trading Redundant=True/StandbysInSync Progressing=False/Complete PromotionBlocked=False/AsExpected ControlPathDegraded=False/AllReachable",
  },
  {
    when: "there is one replica only, as was asked for",
    world: healthy(1),
    about: ["Ready", "Redundant"],
    says: "Trading Ready=True/Trading Redundant=False/SingleReplica",
  },
  {
    when: "one of two standbys is not in sync",
    world: withStatus(healthy(), 2, () => ({ ready: false })),
    about: ["Ready", "PrimaryAvailable", "Redundant", "Progressing"],
    says: "Degraded Ready=False/StandbysMissing PrimaryAvailable=True/Trading Redundant=False/StandbysMissing Progressing=True/Repairing",
  },
  {
    when: "one standby of two replicas is in sync: its loss stops trading, but no loss loses an order",
    world: healthy(2),
    about: ["Ready", "Redundant"],
    says: "Trading Ready=True/Trading Redundant=True/StandbysInSync",
  },
  {
    when: "the primary has too few standbys to acknowledge",
    world: withStatus(healthy(), 0, () => ({ ready: false, readyReason: "fewer than 1 standbys are in sync" })),
    about: ["Ready", "PrimaryAvailable"],
    says: "Degraded Ready=False/CannotCommit PrimaryAvailable=False/CannotCommit",
  },
  {
    when: "the primary is dead and one is being elected",
    world: standbysLost(dropped(healthy(), 0)),
    about: ["Ready", "PrimaryAvailable", "PromotionBlocked"],
    says: "FailingOver Ready=False/Electing PrimaryAvailable=False/Electing PromotionBlocked=False/AsExpected",
  },
  {
    when: "the primary is dead and none can be elected",
    world: withReplica(standbysLost(dropped(healthy(), 0)), 2, () => ({ pod: undefined, stream: undefined })),
    about: ["Ready", "PrimaryAvailable", "PromotionBlocked"],
    says: "Blocked Ready=False/NoPrimary PrimaryAvailable=False/NoPrimary PromotionBlocked=True/NotEnoughPromises",
  },
  {
    when: "a person wants to decide about the failover",
    world: { ...standbysLost(dropped(healthy(), 0)), spec: specOf({ failoverStrategy: { mode: "Manual" } }) },
    about: ["PromotionBlocked"],
    says: "Blocked PromotionBlocked=True/ManualFailover",
  },
  {
    when: "only our own path to the primary is cut",
    world: silent(healthy(), 0, 5_000),
    about: ["PrimaryAvailable", "ControlPathDegraded"],
    says: "Degraded PrimaryAvailable=Unknown/PrimaryUnreachable ControlPathDegraded=True/ReplicaUnreachable",
  },
  {
    when: "the primary's write path is stalled",
    world: withStatus(healthy(), 0, () => ({ writePath: { stalled: true, lastSyncAgeMs: 9_000 } })),
    about: ["PrimaryAvailable"],
    says: "Degraded PrimaryAvailable=False/PrimaryStalled",
  },
  {
    when: "the first replicas are being created",
    world: starting(waitingFor("ContainerCreating")),
    about: ["Ready", "Progressing"],
    says: "Pending Ready=False/Bootstrapping Progressing=True/Creating",
  },
  {
    when: "the image does not exist",
    world: starting(waitingFor("ImagePullBackOff")),
    about: ["Ready", "Progressing", "PromotionBlocked"],
    says: "Pending Ready=False/ImagePullFailed Progressing=False/ImagePullFailed PromotionBlocked=False/AsExpected",
  },
  {
    when: "no node has room",
    world: starting({ unschedulable: "0/3 nodes are available: 3 Insufficient cpu." }),
    about: ["Ready", "Progressing"],
    says: "Pending Ready=False/Unschedulable Progressing=False/Unschedulable",
  },
  {
    when: "the StorageClass does not exist, whatever the scheduler says of the volume",
    world: starting(
      { unschedulable: "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims." },
      { pendingVolumes: [{ claim: "data-te-0", storageClass: "fast", classExists: false }] },
    ),
    about: ["Ready", "Progressing"],
    says: "Pending Ready=False/StorageClassNotFound Progressing=False/StorageClassNotFound",
  },
  {
    when: "the configuration is refused",
    world: starting(exited(64, "tickSize must be positive")),
    about: ["Ready", "Progressing"],
    says: "Pending Ready=False/ConfigRejected Progressing=False/ConfigRejected",
  },
  {
    when: "a standby's process keeps ending",
    world: withPod(
      withReplica(healthy(), 2, () => ({ stream: undefined })),
      2,
      { ...exited(76), ready: false },
    ),
    about: ["PrimaryAvailable", "Progressing"],
    says: "Degraded PrimaryAvailable=True/Trading Progressing=False/CrashLooping",
  },
  {
    when: "a standby's volume is full",
    world: withPod(
      withReplica(healthy(), 2, () => ({ stream: undefined })),
      2,
      { ...exited(71), ready: false },
    ),
    about: ["DiskPressure"],
    says: "Degraded DiskPressure=True/DiskFull",
  },
  {
    when: "pods are being replaced",
    world: withPod(healthy(), 2, { outdated: true }),
    about: ["Ready", "Progressing"],
    says: "Updating Ready=True/Trading Progressing=True/Updating",
  },
  {
    when: "it is paused",
    world: { ...healthy(), spec: specOf({ paused: true }) },
    about: ["Paused", "Ready"],
    says: "Paused Paused=True/SpecPaused Ready=True/Trading",
  },
  {
    when: "it is being deleted",
    world: { ...healthy(), deleting: true },
    about: ["Progressing"],
    says: "Deleting Progressing=True/Deleting",
  },
];

describe("the status of an engine", () => {
  for (const { when, world, about, says } of table) it(when, () => assert.equal(summary(world, ...about), says));

  it("explains in words that a person can act on", () => {
    const messageOf = (world: EngineSnapshot, type: ConditionType) => conditionIn(statusOf(world), type).message;
    assert.match(
      messageOf(starting(waitingFor("ErrImagePull")), "Ready"),
      /te-0: the image registry\.example\.com\/engine:1 cannot be pulled/,
    );
    assert.match(messageOf(starting({ unschedulable: "3 Insufficient cpu." }), "Ready"), /Insufficient cpu/);
    assert.match(
      messageOf(
        starting({}, { pendingVolumes: [{ claim: "data-te-1", storageClass: "fast", classExists: false }] }),
        "Ready",
      ),
      /te-1: the StorageClass fast does not exist/,
    );
    assert.match(
      messageOf(starting(exited(64, "tickSize must be positive")), "Ready"),
      /exit code 64.*spec\.config.*tickSize/,
    );
  });

  it("stays the same while the kubelet alternates between two words for the same failure", () => {
    const first = statusOf(starting(waitingFor("ErrImagePull", "one")));
    assert.deepEqual(statusOf(starting(waitingFor("ImagePullBackOff", "another")), first), first);
  });

  it("does not call one crash a loop", () => {
    const once = withPod(healthy(), 2, {
      lastExit: { exitCode: 137, reason: "Error", message: "" },
      restarts: 1,
      ready: false,
    });
    assert.equal(summary(once, "Progressing"), "Trading Progressing=False/Complete");
  });

  it("counts and lists the replicas", () => {
    const status = statusOf(withStatus(healthy(), 2, () => ({ ready: false, readyReason: "not connected to te-0" })));
    assert.equal(status.primary, "te-0");
    assert.equal(status.epoch, 3);
    assert.deepEqual([status.readyReplicas, status.readySummary], [2, "2/3"]);
    assert.deepEqual([status.inSyncReplicas, status.syncSummary], [1, "1/2"]);
    assert.deepEqual(
      status.replicas?.map(({ name, role, ready, inSync, message }) => [name, role, ready, inSync, message]),
      [
        ["te-0", "Primary", true, true, undefined],
        ["te-1", "Standby", true, true, undefined],
        ["te-2", "Standby", false, false, "not connected to te-0"],
      ],
    );
    assert.deepEqual(status.endpoint, { orders: "te.trading.svc:7000", feed: "te-standby.trading.svc:7001" });
    assert.deepEqual(status.image, {
      current: "registry.example.com/engine:1",
      target: "registry.example.com/engine:1",
      progress: "3/3",
    });
  });

  it("shows the last update of the shape, and keeps it when nothing newer is known", () => {
    const told = {
      time: wall,
      result: "failed",
      reason: "SpecChanged",
      durationMs: 1180.4,
      changes: { update: 1 },
      message: "no",
    } as const;
    const status = statusOf({ ...healthy(), shape: { ...told, generation: 1 } });
    assert.deepEqual(status.lastUpdate, { ...told, durationMs: 1180 });
    assert.equal(conditionIn(status, "ShapeSynced").reason, "UpFailed");
    const later = statusOf({ ...healthy(), published: status }, status);
    assert.deepEqual(later.lastUpdate, status.lastUpdate);
    assert.equal(conditionIn(later, "ShapeSynced").reason, "UpFailed");
  });

  const succeeded = { time: wall, result: "succeeded", reason: "SpecChanged", durationMs: 900, changes: {} } as const;

  it("is progressing until the newest spec is applied, although every replica is up to date", () => {
    const status = statusOf({ ...healthy(), generation: 2, applied: false, shape: { ...succeeded, generation: 1 } });
    assert.deepEqual(
      [conditionIn(status, "Progressing").status, conditionIn(status, "Progressing").reason],
      ["True", "UpRunning"],
    );
    assert.equal(conditionIn(status, "ShapeSynced").status, "Unknown");
  });

  it("says that a change is stuck when its update failed", () => {
    const failed = { ...succeeded, result: "failed", message: "quota", generation: 1 } as const;
    const status = statusOf({ ...healthy(), applied: false, shape: failed });
    assert.deepEqual(
      [conditionIn(status, "Progressing").status, conditionIn(status, "Progressing").message],
      ["False", "quota"],
    );
  });

  it("echoes the rollout once all of it is in place, and the one before until then", () => {
    const rollout = (value: string) => ({ annotations: { [annotations.rollout]: value } });
    const first = statusOf({ ...healthy(), ...rollout("a") });
    assert.equal(first.settledRollout, "a");
    const second = statusOf({ ...healthy(), ...rollout("b"), generation: 2, applied: false }, first);
    assert.equal(second.settledRollout, "a");
    assert.equal(statusOf({ ...healthy(), ...rollout("b"), generation: 2 }, second).settledRollout, "b");
  });

  it("moves a condition's time only with its status", () => {
    const before = statusOf(healthy());
    const old = "2026-01-01T00:00:00.000Z";
    const dated = {
      ...before,
      conditions: before.conditions?.map((condition) => ({ ...condition, lastTransitionTime: old })),
    };
    const after = statusOf(
      withStatus(healthy(), 2, () => ({ ready: false })),
      dated,
    );
    assert.equal(conditionIn(after, "PrimaryAvailable").lastTransitionTime, old);
    assert.equal(conditionIn(after, "Ready").lastTransitionTime, wall);
    assert.deepEqual(statusOf(healthy(), dated), dated, "the same world gives the same status");
  });
});

describe("a status is worth publishing", () => {
  const isWorth = (world: EngineSnapshot): boolean => isWorthPublishing(decide(world, now), world, now);

  it("unless the next moment tells more", () => {
    assert.ok(isWorth(healthy()));
    assert.ok(!isWorth(dropped(healthy(), 0)), "the primary is suspected");
    assert.ok(!isWorth(healthy(3, { lease: leaseOf({ holder: "" }) })), "an election is being completed");
  });

  it("unless streams are being opened for the first time", () => {
    const opening = (since: number) =>
      withReplica(healthy(), 2, () => ({
        stream: { connection: { kind: "connecting", since }, lastHeardAt: undefined, status: undefined },
      }));
    assert.ok(!isWorth(opening(now - 100)));
    assert.ok(isWorth(opening(now - 5_000)));
  });

  it("also before the first primary", () => {
    assert.ok(
      isWorth(
        worldOf([replicaOf(0, live(blankStatus(0)))], {
          spec: healthy(1).spec,
          lease: undefined,
          published: undefined,
        }),
      ),
    );
  });
});
