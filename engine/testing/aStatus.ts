import type { EngineStatus } from "../control/status.ts";

/** The status of a ready standby, with `changes`. */
export const aStatus = (changes: Partial<EngineStatus> = {}): EngineStatus => ({
  contractVersion: 1,
  instance: "te-1",
  clusterUid: "trading/btc-usdt",
  processId: "process",
  role: "standby",
  epoch: { current: 1, promised: 1, startSeq: 1 },
  blank: false,
  durable: { epoch: 1, seq: 1 },
  watermarks: { received: 1, durable: 1, committed: 1, applied: 1 },
  lastHash: { seq: 1, hash: "0".repeat(16) },
  sync: null,
  upstream: null,
  writePath: { lastSyncAgeMs: 0, stalled: false },
  loopLagMs: 0,
  ready: true,
  readyReason: "ready",
  journal: { firstSeq: 1, lastSeq: 1, bytes: 100, cutTails: 0 },
  diskFreeBytes: 1e9,
  configHash: "hash",
  build: "test",
  capabilities: [],
  lastError: null,
  lastApplyFault: null,
  ...changes,
});
