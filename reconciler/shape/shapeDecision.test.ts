import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decideShape, type ShapeSnapshot } from "./shapeDecision.ts";

const settled: ShapeSnapshot = {
  reason: "Resync",
  paused: false,
  driftPolicy: "Correct",
  wanted: "w1",
  record: { wanted: "w1", children: { "Service/a": "s1", "StatefulSet/a": "t1" } },
  hasState: true,
  observed: { "Service/a": "s1", "StatefulSet/a": "t1", "Service/foreign": "x" },
  lastRunFailed: false,
  epoch: 1,
  recordedEpoch: 1,
};

const run = (reason: string, refresh: boolean, drifted: readonly string[] = []) => ({
  kind: "run",
  reason,
  refresh,
  drifted,
});
const unchanged = { kind: "nothing", why: "Unchanged" };

const cases: readonly { readonly title: string; readonly change: Partial<ShapeSnapshot>; readonly then: unknown }[] = [
  { title: "nothing changed", change: {}, then: unchanged },
  { title: "a rumour of drift that is not true", change: { reason: "Drift" }, then: unchanged },
  { title: "a new daemon meets a settled engine", change: { reason: "Created" }, then: unchanged },
  {
    title: "a new engine",
    change: { reason: "Created", record: undefined, hasState: false, observed: {} },
    then: run("Created", false),
  },
  {
    title: "an engine whose state was lost adopts what is there",
    change: { reason: "Created", record: undefined, hasState: false },
    then: run("Created", false),
  },
  {
    title: "a first run that failed half-way: the state may be behind",
    change: { reason: "SpecChanged", record: undefined },
    then: run("Created", true),
  },
  { title: "an edited spec", change: { reason: "SpecChanged", wanted: "w2" }, then: run("SpecChanged", false) },
  {
    title: "a daemon with another program",
    change: { reason: "Resync", wanted: "w2" },
    then: run("SpecChanged", false),
  },
  {
    title: "a deleted child",
    change: { reason: "Drift", observed: { "StatefulSet/a": "t1" } },
    then: run("Drift", true, ["Service/a"]),
  },
  {
    title: "an edited child found after a restart",
    change: { observed: { "Service/a": "s2", "StatefulSet/a": "t1" } },
    then: run("Drift", true, ["Service/a"]),
  },
  {
    title: "drift that is only to be reported",
    change: { driftPolicy: "Report", observed: { "StatefulSet/a": "t1" } },
    then: { kind: "report", drifted: ["Service/a"] },
  },
  {
    title: "an edited spec on top of reported drift needs the state read first",
    change: { driftPolicy: "Report", reason: "SpecChanged", wanted: "w2", observed: { "StatefulSet/a": "t1" } },
    then: run("SpecChanged", true, ["Service/a"]),
  },
  {
    title: "a failover that broke nothing is still recorded",
    change: { reason: "Failover", epoch: 2 },
    then: run("Failover", false),
  },
  {
    title: "a failover whose daemon died before its `up` is recorded by the next one",
    change: { reason: "Resync", epoch: 3 },
    then: run("Failover", false),
  },
  {
    title: "a failover whose `up` another reason already brought",
    change: { reason: "Failover", epoch: 2, recordedEpoch: 2 },
    then: unchanged,
  },
  { title: "a first election", change: { reason: "Failover", recordedEpoch: 0 }, then: unchanged },
  {
    title: "epochs that began anew, as after a lost Lease",
    change: { reason: "Failover", epoch: 1, recordedEpoch: 7 },
    then: unchanged,
  },
  {
    title: "an edit on top of a failover",
    change: { reason: "SpecChanged", wanted: "w2", epoch: 2 },
    then: run("Failover", false),
  },
  {
    title: "a failover that cost a volume",
    change: { reason: "Failover", epoch: 2, observed: { "Service/a": "s1" } },
    then: run("Failover", true, ["StatefulSet/a"]),
  },
  { title: "a person asks", change: { reason: "Requested" }, then: run("Requested", false) },
  {
    title: "a second try after a failure reads the cluster first",
    change: { reason: "SpecChanged", wanted: "w2", lastRunFailed: true },
    then: run("SpecChanged", true),
  },
  {
    title: "an edit that failed and was taken back: its traces are looked for",
    change: { reason: "SpecChanged", lastRunFailed: true },
    then: run("SpecChanged", true),
  },
];

describe("decideShape", () => {
  for (const { title, change, then } of cases) {
    it(title, () => assert.deepEqual(decideShape({ ...settled, ...change }), then));
  }

  it("does nothing at all while paused", () => {
    for (const { change } of cases) {
      assert.deepEqual(decideShape({ ...settled, ...change, paused: true }), { kind: "nothing", why: "Paused" });
    }
  });
});
