import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineSnapshot } from "../observe/index.ts";
import {
  dropped,
  healthy,
  leaseOf,
  now,
  silent,
  standbysLost,
  standbysSilent,
  statusOf,
  withPod,
  withReplica,
  withStatus,
} from "../testing/engineWorld.ts";
import { judgePrimary, type PrimaryVerdict } from "./verdict.ts";

interface Row {
  readonly seen: string;
  readonly world: EngineSnapshot;
  readonly verdict: Partial<PrimaryVerdict>;
}

/** The default detection time is 1000 ms, the bound of a write stall 3000 ms. */
const table: readonly Row[] = [
  { seen: "everything is well", world: healthy(), verdict: { kind: "leading", name: "te-0" } },

  // Dead at once.
  {
    seen: "the pod is gone",
    world: withReplica(healthy(), 0, () => ({ pod: undefined, stream: undefined })),
    verdict: { kind: "dead", cause: "PodDeleted" },
  },
  {
    seen: "the stream was reset and both standbys lost their connection too",
    world: standbysLost(dropped(healthy(), 0)),
    verdict: { kind: "dead", cause: "ProcessExited", since: now - 5 },
  },
  {
    seen: "the connection is refused and both standbys lost theirs",
    world: standbysLost(dropped(healthy(), 0, "refused")),
    verdict: { kind: "dead", cause: "ProcessExited" },
  },
  {
    seen: "the container has terminated",
    world: withPod(standbysLost(dropped(healthy(), 0, "unreachable")), 0, {
      container: { kind: "terminated", exitCode: 137, reason: "Error", message: "" },
    }),
    verdict: { kind: "dead", cause: "ContainerTerminated" },
  },
  {
    seen: "the container is in a crash loop",
    world: withPod(standbysLost(dropped(healthy(), 0, "unreachable")), 0, {
      container: { kind: "waiting", reason: "CrashLoopBackOff", message: "" },
    }),
    verdict: { kind: "dead", cause: "ContainerTerminated" },
  },
  {
    seen: "the pod's process answers, but as a standby: it started anew",
    world: withStatus(healthy(), 0, () => ({ role: "standby", sync: null, upstream: null })),
    verdict: { kind: "dead", cause: "ProcessRestarted" },
  },
  {
    seen: "the pod's process answers while it still reads its journal",
    world: withStatus(healthy(), 0, () => ({ role: "recovering", sync: null, upstream: null })),
    verdict: { kind: "dead", cause: "ProcessRestarted" },
  },

  // One failed call is never a death.
  {
    seen: "the stream was reset, but the standbys are connected",
    world: dropped(healthy(), 0),
    verdict: { kind: "suspect" },
  },
  {
    seen: "the stream was reset and only one of two standbys lost its connection",
    world: withStatus(dropped(healthy(), 0), 1, ({ upstream }) => ({
      upstream: upstream && { ...upstream, connected: false },
    })),
    verdict: { kind: "suspect" },
  },
  {
    seen: "the stream timed out, and the standbys lost their connection a moment ago",
    world: standbysLost(dropped(healthy(), 0, "timeout")),
    verdict: { kind: "suspect" },
  },
  {
    seen: "the kubelet reports an end, but of an earlier process: the standbys hear it",
    world: withPod(dropped(healthy(), 0), 0, {
      container: { kind: "terminated", exitCode: 137, reason: "Error", message: "" },
    }),
    verdict: { kind: "suspect" },
  },
  { seen: "a late heartbeat", world: silent(healthy(), 0, 900), verdict: { kind: "leading" } },
  {
    seen: "the Lease was written a moment ago, and the status is from before",
    world: {
      ...withStatus(healthy(), 0, () => ({ role: "standby", sync: null })),
      lease: leaseOf({ seenAt: now - 100 }),
    },
    verdict: { kind: "suspect" },
  },

  // Silence.
  {
    seen: "silent for the detection time, to us and to both standbys",
    world: standbysSilent(silent(healthy(), 0, 1_000), 1_000),
    verdict: { kind: "dead", cause: "Silent", since: now - 1_000 },
  },
  {
    seen: "silent to us, and one of two standbys does not hear it either, but the other does",
    world: withStatus(silent(healthy(), 0, 1_500), 1, ({ upstream }) => ({
      upstream: upstream && { ...upstream, lastHeardMs: 1_500 },
    })),
    verdict: { kind: "cutOff", heardBy: ["te-2"] },
  },
  {
    seen: "silent to us, while both standbys hear it: our own path is cut",
    world: silent(healthy(), 0, 5_000),
    verdict: { kind: "cutOff", heardBy: ["te-1", "te-2"] },
  },
  {
    seen: "silent, and so is one of two standbys: no majority of witnesses",
    world: silent(standbysSilent(silent(healthy(), 0, 2_000), 2_000), 1, 2_000),
    verdict: { kind: "suspect" },
  },
  {
    seen: "everybody is silent: it is our network",
    world: [0, 1, 2].reduce((world, ordinal) => silent(world, ordinal, 2_000), healthy()),
    verdict: { kind: "suspect" },
  },
  {
    seen: "a standby's own word is old by the time since its last heartbeat",
    world: [1, 2].reduce(
      (world, ordinal) => silent(world, ordinal, 600),
      standbysSilent(silent(healthy(), 0, 1_100), 500),
    ),
    verdict: { kind: "dead", cause: "Silent" },
  },

  // Grey failures.
  {
    seen: "the write path is stalled over the bound",
    world: withStatus(healthy(), 0, () => ({ writePath: { stalled: true, lastSyncAgeMs: 3_100 } })),
    verdict: { kind: "stalled", since: now - 50 - 3_100 },
  },
  {
    seen: "the write path is stalled, but not for long",
    world: withStatus(healthy(), 0, () => ({ writePath: { stalled: true, lastSyncAgeMs: 900 } })),
    verdict: { kind: "leading" },
  },
  {
    seen: "nothing was written for long because nothing was sent",
    world: withStatus(healthy(), 0, () => ({ writePath: { stalled: false, lastSyncAgeMs: 600_000 } })),
    verdict: { kind: "leading" },
  },

  // On its way out.
  { seen: "the pod is terminating", world: withPod(healthy(), 0, { terminating: true }), verdict: { kind: "leaving" } },
  { seen: "it drains", world: withStatus(healthy(), 0, () => ({ role: "draining" })), verdict: { kind: "leaving" } },

  // Half-done elections.
  {
    seen: "the Lease has no holder, and a replica leads exactly its epoch",
    world: healthy(3, { lease: leaseOf({ holder: "" }) }),
    verdict: { kind: "unrecorded", name: "te-0", epoch: 3 },
  },
  {
    seen: "the Lease has no holder, and a replica leads an older epoch",
    world: healthy(3, { lease: leaseOf({ holder: "", epoch: 4 }) }),
    verdict: { kind: "none", epoch: 4 },
  },
  {
    seen: "the Lease was deleted while the primary leads",
    world: healthy(3, { lease: undefined }),
    verdict: { kind: "unrecorded", name: "te-0", epoch: 3 },
  },
  {
    seen: "the Lease has no holder, and a replica leads its epoch, but another has promised more",
    world: withStatus(healthy(3, { lease: leaseOf({ holder: "" }) }), 1, () => ({
      epoch: { current: 3, promised: 4, startSeq: 90 },
    })),
    verdict: { kind: "none" },
  },
  {
    seen: "a stranger answers at the pod's address",
    world: withReplica(healthy(), 0, ({ stream }) => (stream ? { stream: { ...stream, status: statusOf(9) } } : {})),
    verdict: { kind: "suspect" },
  },
];

describe("the verdict on a primary", () => {
  for (const { seen, world, verdict } of table)
    it(`${seen}: ${[verdict.kind, "cause" in verdict ? verdict.cause : undefined].filter(Boolean).join(" ")}`, () => {
      const judged = judgePrimary(world, now);
      for (const [field, value] of Object.entries(verdict))
        assert.deepEqual(Reflect.get(judged, field), value, `${field} of ${JSON.stringify(judged)}`);
    });

  it("counts a majority of the other members, whatever n is", () => {
    const world = standbysSilent(silent(healthy(5), 0, 2_000), 2_000);
    const twoOfFourSilent = silent(silent(world, 3, 2_000), 4, 2_000);
    assert.equal(judgePrimary(world, now).kind, "dead");
    assert.equal(judgePrimary(twoOfFourSilent, now).kind, "suspect");
  });

  it("needs no witness where there is no standby", () => {
    assert.equal(judgePrimary(silent(healthy(1), 0, 1_000), now).kind, "dead");
  });
});
