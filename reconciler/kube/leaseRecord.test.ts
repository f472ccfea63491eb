import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { held, type LeaseSpec, mayTake, observe, released } from "./leaseRecord.ts";
import { microTime } from "./microTime.ts";
import type { Lease } from "./resource.ts";

const wall = new Date("2026-01-02T03:04:05.678Z");

const leaseOf = (spec: LeaseSpec, resourceVersion = "1", uid = "u"): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "l", namespace: "n", uid, resourceVersion, creationTimestamp: "" },
  spec,
});

describe("lease record", () => {
  it("writes times with six digits, as Go demands", () => {
    assert.equal(microTime(wall), "2026-01-02T03:04:05.678000Z");
  });

  it("starts its clock anew only when the record changed, however old the times in it are", () => {
    const lease = leaseOf({ holderIdentity: "a", renewTime: "2001-01-01T00:00:00.000000Z" });
    const first = observe(undefined, lease, 100);
    assert.equal(first.changedAt, 100);
    assert.equal(observe(first, leaseOf({ ...lease.spec }, "2"), 200).changedAt, 100);
    const changes: readonly LeaseSpec[] = [
      { ...lease.spec, renewTime: "1999-01-01T00:00:00.000000Z" },
      { ...lease.spec, holderIdentity: "b" },
      { ...lease.spec, leaseTransitions: 1 },
      { ...lease.spec, leaseDurationSeconds: 9 },
      { ...lease.spec, acquireTime: "2002-01-01T00:00:00.000000Z" },
    ];
    for (const spec of changes) assert.equal(observe(first, leaseOf(spec), 200).changedAt, 200);
    assert.equal(observe(first, leaseOf({ ...lease.spec }, "1", "another"), 200).changedAt, 200);
  });

  const cases: readonly {
    readonly what: string;
    readonly spec: LeaseSpec | undefined;
    readonly after: number;
    readonly may: boolean;
  }[] = [
    { what: "a missing lease", spec: undefined, after: 0, may: true },
    { what: "a freed lease", spec: { holderIdentity: "" }, after: 0, may: true },
    { what: "its own lease", spec: { holderIdentity: "me", leaseDurationSeconds: 15 }, after: 0, may: true },
    {
      what: "another's lease within its time",
      spec: { holderIdentity: "it", leaseDurationSeconds: 4 },
      after: 4_000,
      may: false,
    },
    {
      what: "another's lease after its time",
      spec: { holderIdentity: "it", leaseDurationSeconds: 4 },
      after: 4_001,
      may: true,
    },
    {
      what: "a lease whose holder promised a longer time",
      spec: { holderIdentity: "it", leaseDurationSeconds: 15 },
      after: 14_000,
      may: false,
    },
    {
      what: "a lease whose holder promised a shorter time",
      spec: { holderIdentity: "it", leaseDurationSeconds: 1 },
      after: 3_000,
      may: false,
    },
  ];
  for (const { what, spec, after, may } of cases) {
    it(`${may ? "may take" : "must leave"} ${what}`, () => {
      const lease = spec === undefined ? undefined : leaseOf(spec);
      assert.equal(mayTake({ lease, changedAt: 1_000 }, "me", 4_000, 1_000 + after), may);
    });
  }

  it("counts a transition when the holder changes, and only then", () => {
    const first = held(undefined, "a", 4_000, wall);
    assert.deepEqual(first, {
      holderIdentity: "a",
      leaseDurationSeconds: 4,
      acquireTime: microTime(wall),
      renewTime: microTime(wall),
      leaseTransitions: 0,
    });
    const later = new Date(wall.getTime() + 1_000);
    assert.deepEqual(held(first, "a", 4_000, later), { ...first, renewTime: microTime(later) });
    assert.deepEqual(held(first, "b", 4_000, later), {
      ...first,
      holderIdentity: "b",
      acquireTime: microTime(later),
      renewTime: microTime(later),
      leaseTransitions: 1,
    });
  });

  it("keeps fields it does not know, and never promises less than a second or a part of one", () => {
    const before = { strategy: "OldestEmulationVersion" };
    assert.equal(held(before, "a", 4_000, wall).strategy, before.strategy);
    assert.equal(held(undefined, "a", 300, wall).leaseDurationSeconds, 1);
    assert.equal(held(undefined, "a", 3_200, wall).leaseDurationSeconds, 4);
  });

  it("frees the lease for whoever comes next, and keeps the count", () => {
    const before = held({ leaseTransitions: 6 }, "a", 15_000, wall);
    assert.deepEqual(released(before, wall), { ...before, holderIdentity: "", leaseDurationSeconds: 1 });
  });
});
