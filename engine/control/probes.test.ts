import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { aStatus } from "../testing/aStatus.ts";
import { testLimits } from "../testing/testReplica.ts";
import { isPrimary, isStandby, livez, readyz, startupz } from "./probes.ts";
import { statusAsOf } from "./status.ts";

const anyLag = { maxLagRecords: null, maxLagMs: null };
const primary = aStatus({
  role: "primary",
  sync: { k: 1, version: 1, members: [], satisfied: true },
  epoch: { current: 2, promised: 2, startSeq: 10 },
  watermarks: { received: 12, durable: 12, committed: 12, applied: 12 },
});
const standby = aStatus({
  role: "standby",
  upstream: { epoch: 2, instance: "te-0", connected: true, lastHeardMs: 30 },
  watermarks: { received: 12, durable: 12, committed: 12, applied: 9 },
});

describe("probes", () => {
  it("keep a process alive whatever its disk and peers do", () => {
    assert.equal(livez(aStatus({ ready: false, writePath: { lastSyncAgeMs: 1e6, stalled: true } })).ok, true);
    assert.equal(livez(aStatus({ loopLagMs: 10_001 })).ok, false);
  });

  it("give a long replay its time", () => {
    const answer = startupz(aStatus({ role: "recovering", readyReason: "reading the journal, at record 5" }));
    assert.deepEqual(answer, { ok: false, reason: "reading the journal, at record 5" });
    assert.equal(startupz(standby).ok, true);
  });

  it("say ready and why not", () => {
    assert.equal(readyz(aStatus({ ready: true })).ok, true);
    assert.equal(readyz(aStatus({ ready: false, readyReason: "because" })).reason, "because");
  });
});

describe("the primary probe", () => {
  it("passes on a primary that can commit", () => assert.equal(isPrimary(primary).ok, true));

  for (const [why, status] of [
    ["another role", standby],
    ["a fenced one", { ...primary, role: "fenced" as const }],
    ["standbys missing", { ...primary, sync: { k: 1, version: 1, members: [], satisfied: false } }],
    ["an epoch that is not committed", { ...primary, epoch: { current: 2, promised: 2, startSeq: 13 } }],
    ["an intake that is shut", { ...primary, ready: false }],
  ] as const) {
    it(`fails with ${why}`, () => assert.equal(isPrimary(status).ok, false));
  }
});

describe("the standby probe", () => {
  const cases = [
    { what: "any lag", bounds: anyLag, ok: true },
    { what: "a lag within its bound", bounds: { maxLagRecords: 3, maxLagMs: 30 }, ok: true },
    { what: "too many records", bounds: { maxLagRecords: 2, maxLagMs: null }, ok: false },
    { what: "too long a silence", bounds: { maxLagRecords: null, maxLagMs: 29 }, ok: false },
  ];
  for (const { what, bounds, ok } of cases) {
    it(`${ok ? "passes" : "fails"} with ${what}`, () => assert.equal(isStandby(standby, bounds).ok, ok));
  }

  it("fails without a connection, and on a primary", () => {
    const cut = { ...standby, upstream: { epoch: 2, instance: "te-0", connected: false, lastHeardMs: 0 } };
    assert.equal(isStandby(cut, anyLag).ok, false);
    assert.equal(isStandby(primary, anyLag).ok, false);
  });
});

describe("a status that is told later than it was taken", () => {
  const snapshot = {
    status: { ...standby, ready: true },
    takenAt: 1_000,
    writePath: { pendingSince: null },
    upstreamHeardAt: 980,
  };

  it("has older ages", () => {
    const status = statusAsOf(snapshot, 1_050, testLimits);
    assert.equal(status.upstream?.lastHeardMs, 70);
    const writing = { ...snapshot, writePath: { pendingSince: 950 } };
    assert.equal(statusAsOf(writing, 1_050, testLimits).writePath.lastSyncAgeMs, 100);
    assert.equal(status.ready, true);
  });

  it("is not ready once the main thread is silent for the detection time", () => {
    const status = statusAsOf(snapshot, 1_000 + testLimits.detectionMs + testLimits.heartbeatMs + 1, testLimits);
    assert.equal(status.ready, false);
    assert.match(status.readyReason, /main thread has been silent/);
  });

  it("shows an idle write path as young, however long nothing was written", () => {
    assert.deepEqual(statusAsOf(snapshot, 1e9, testLimits).writePath, { lastSyncAgeMs: 0, stalled: false });
  });

  it("notices a stalled write although nobody tells", () => {
    const writing = { ...snapshot, writePath: { pendingSince: 950 } };
    assert.equal(statusAsOf(writing, 1_000, testLimits).writePath.stalled, false);
    assert.equal(statusAsOf(writing, 951 + testLimits.writeStallMs, testLimits).writePath.stalled, true);
  });
});
