import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseTradingEngine } from "../../api/tradingEngine/index.ts";
import type { Lease, Node, PersistentVolumeClaim, Pod, StatefulSet, StorageClass } from "../kube/index.ts";
import { live, statusOf } from "../testing/engineWorld.ts";
import { assembleSnapshot, type EngineSources } from "./assemble.ts";
import { leaseObject, readLease } from "./leaseCodec.ts";
import { viewPod } from "./podView.ts";
import { viewPendingVolumes } from "./volumeView.ts";

const meta = (name: string, overrides: object = {}) => ({
  namespace: "trading",
  name,
  uid: `uid-${name}`,
  resourceVersion: "1",
  creationTimestamp: "2026-01-01T00:00:00Z",
  generation: 2,
  ...overrides,
});

interface PodParts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

/** Pods come as JSON: tests write only the part that matters. */
const podOf = (name: string, parts: PodParts = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: meta(name, { labels: { "controller-revision-hash": "old" }, ...parts.metadata }),
  spec: { containers: [{ name: "engine", image: "engine:1" }], nodeName: "node-a", ...parts.spec },
  status: { phase: "Running", podIP: "10.0.0.1", ...parts.status },
});

const containerIn = (state: object, more: object = {}): PodParts => ({
  status: { containerStatuses: [{ name: "engine", state, restartCount: 0, ...more }] },
});

describe("the view of a pod", () => {
  const states: readonly [string, object, object][] = [
    ["runs", { running: { startedAt: "now" } }, { kind: "running" }],
    [
      "waits for its image",
      { waiting: { reason: "ImagePullBackOff", message: "Back-off" } },
      { kind: "waiting", reason: "ImagePullBackOff", message: "Back-off" },
    ],
    [
      "has ended",
      { terminated: { exitCode: 70, reason: "Error", message: '{"seq":5}' } },
      { kind: "terminated", exitCode: 70, reason: "Error", message: '{"seq":5}' },
    ],
  ];
  for (const [what, state, expected] of states)
    it(`tells when its container ${what}`, () =>
      assert.deepEqual(viewPod(podOf("te-0", containerIn(state)), undefined, undefined).container, expected));

  it("knows nothing of a container that has no status yet", () => {
    assert.deepEqual(viewPod(podOf("te-0"), undefined, undefined).container, { kind: "unknown" });
  });

  it("keeps how the previous run ended", () => {
    const pod = podOf(
      "te-0",
      containerIn({ running: {} }, { restartCount: 3, lastState: { terminated: { exitCode: 74 } } }),
    );
    const view = viewPod(pod, undefined, undefined);
    assert.deepEqual([view.lastExit, view.restarts], [{ exitCode: 74, reason: "", message: "" }, 3]);
  });

  it("looks at the engine's container, not at a sidecar", () => {
    const containerStatuses = [
      { name: "proxy", state: { running: {} } },
      { name: "engine", state: { waiting: { reason: "ErrImagePull" } } },
    ];
    assert.equal(
      viewPod(podOf("te-0", { status: { containerStatuses } }), undefined, undefined).container.kind,
      "waiting",
    );
  });

  it("is outdated when made from another template than the StatefulSet has now", () => {
    assert.equal(viewPod(podOf("te-0"), "new", undefined).outdated, true);
    assert.equal(viewPod(podOf("te-0"), "old", undefined).outdated, false);
    assert.equal(viewPod(podOf("te-0"), undefined, undefined).outdated, false);
  });

  it("has the scheduler's words, and whether its node takes pods", () => {
    const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no room" }];
    const cordoned = { spec: { unschedulable: true } } as Node;
    const view = viewPod(podOf("te-0", { status: { conditions, podIP: "" } }), undefined, cordoned);
    assert.deepEqual([view.unschedulable, view.nodeSchedulable, view.ip], ["no room", false, undefined]);
  });
});

describe("the view of volumes", () => {
  const claim = (storageClassName: string | undefined, phase = "Pending") =>
    ({
      metadata: meta("data-te-0"),
      spec: { storageClassName },
      status: { phase },
    }) as unknown as PersistentVolumeClaim;
  const classOf = (name: string, annotations = {}) =>
    ({ metadata: meta(name, { annotations }) }) as unknown as StorageClass;
  const standard = classOf("standard", { "storageclass.kubernetes.io/is-default-class": "true" });

  const table: readonly [string, PersistentVolumeClaim, readonly StorageClass[], readonly (boolean | undefined)[]][] = [
    ["a bound claim is no news", claim("fast", "Bound"), [], []],
    ["a class that exists", claim("fast"), [classOf("fast")], [true]],
    ["a class that does not", claim("fast"), [standard], [false]],
    ["the default class", claim(undefined), [standard], [true]],
    ["no default class", claim(undefined), [classOf("fast")], [false]],
    ["a claim for a volume that exists", claim(""), [], [true]],
  ];
  for (const [what, pending, classes, exists] of table)
    it(what, () =>
      assert.deepEqual(
        viewPendingVolumes([pending], classes).map(({ classExists }) => classExists),
        exists,
      ),
    );
});

describe("the Lease of an engine", () => {
  const content = {
    engine: { namespace: "trading", name: "te" },
    ownerUid: "engine-uid",
    resourceVersion: "5",
    holder: "te-1",
    epoch: 4,
    rule: { members: ["te-0", "te-1", "te-2"], k: 1 },
    established: true,
  };
  const stored = (overrides: Partial<typeof content> = {}): Lease =>
    leaseObject({ ...content, ...overrides }) as unknown as Lease;

  it("reads back as it was written", () => {
    const { holder, epoch, rule, established, resourceVersion } = content;
    assert.deepEqual(readLease(stored()), { holder, epoch, rule, established, resourceVersion });
    assert.deepEqual(readLease(stored({ holder: "", established: false })).established, false);
  });

  it("goes with its TradingEngine, and carries the engine's labels", () => {
    const { metadata } = stored();
    assert.equal(metadata.ownerReferences?.[0]?.uid, "engine-uid");
    assert.equal(metadata.labels?.["enginekeeper.dev/engine"], "te");
  });

  it("written by somebody else has no rule, and with a holder is established", () => {
    const foreign = { metadata: meta("te"), spec: { holderIdentity: "te-0" } } as unknown as Lease;
    assert.deepEqual(readLease(foreign), {
      holder: "te-0",
      epoch: 0,
      rule: undefined,
      established: true,
      resourceVersion: "1",
    });
    const damaged = {
      ...stored(),
      metadata: { ...stored().metadata, annotations: { "enginekeeper.dev/commit-rule": "{" } },
    };
    assert.equal(readLease(damaged as Lease).rule, undefined);
  });
});

describe("a snapshot", () => {
  const parsed = parseTradingEngine({
    apiVersion: "enginekeeper.dev/v1alpha1",
    kind: "TradingEngine",
    metadata: meta("te"),
    spec: { tradingPair: "BTC/USDT", image: "engine:1", storage: { size: "1Gi" } },
  });
  assert.ok(parsed.ok);
  const statefulSet = (observedGeneration: number) =>
    ({ metadata: meta("te"), status: { observedGeneration, updateRevision: "new" } }) as unknown as StatefulSet;
  const sources = (overrides: Partial<EngineSources> = {}): EngineSources => ({
    engine: parsed.value,
    pods: [],
    lease: undefined,
    statefulSet: undefined,
    claims: [],
    storageClasses: [],
    nodeOf: () => undefined,
    streamOf: () => undefined,
    shape: undefined,
    lastStallFailoverAt: undefined,
    ...overrides,
  });

  it("has a place for each wanted replica, and for each that is still there", () => {
    const names = assembleSnapshot(
      sources({ pods: [podOf("te-4"), podOf("te-1"), podOf("te-01"), podOf("other-0")] }),
    ).replicas;
    assert.deepEqual(
      names.map(({ name, pod }) => [name, pod !== undefined]),
      [
        ["te-0", false],
        ["te-1", true],
        ["te-2", false],
        ["te-4", true],
      ],
    );
  });

  it("gives a pod the stream of exactly that pod", () => {
    const stream = live(statusOf(0));
    const { replicas } = assembleSnapshot(
      sources({ pods: [podOf("te-0")], streamOf: (uid) => (uid === "uid-te-0" ? stream : undefined) }),
    );
    assert.equal(replicas[0]?.stream, stream);
  });

  it("takes no pod for outdated while the StatefulSet's controller has not seen the newest template", () => {
    const outdated = (observed: number) =>
      assembleSnapshot(sources({ pods: [podOf("te-0")], statefulSet: statefulSet(observed) })).replicas[0]?.pod
        ?.outdated;
    assert.deepEqual([outdated(1), outdated(2)], [false, true]);
  });
});
