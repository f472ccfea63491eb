import type { Exchange } from "../exchange/exchange.ts";
import type { Journal, WritePath } from "../journal/journal.ts";
import type { Position } from "../journal/record.ts";
import type { EngineConfig, EngineLimits } from "../process/config.ts";
import type { Replay } from "../process/replicaCore.ts";
import type { CommitQueue } from "../replica/commitQueue.ts";
import type { SyncMember } from "../replica/primaryTerm.ts";
import { describeFault, type Replica } from "../replica/replica.ts";
import { idOf } from "../snapshots/manifest.ts";
import type { ReplicaSnapshots } from "../snapshots/replicaSnapshots.ts";
import type { ApplyFault } from "../storage/applyFault.ts";

export type Role = "recovering" | "standby" | "primary" | "fenced" | "draining" | "halted" | "failed";

/** GET /v1/status. Sequence numbers count from 1; ages are milliseconds. */
export interface EngineStatus {
  readonly contractVersion: 1;
  readonly instance: string;
  readonly clusterUid: string;
  /** Changes with every process start. */
  readonly processId: string;
  readonly role: Role;
  readonly epoch: { readonly current: number; readonly promised: number; readonly startSeq: number };
  readonly blank: boolean;
  readonly durable: Position;
  readonly watermarks: {
    readonly received: number;
    readonly durable: number;
    readonly committed: number;
    readonly applied: number;
  };
  readonly lastHash: { readonly seq: number; readonly hash: string };
  readonly sync: {
    readonly k: number;
    readonly version: number;
    readonly members: readonly SyncMember[];
    readonly satisfied: boolean;
  } | null;
  /** On a primary that needs one to acknowledge (k = 0, and others could lead); else null. */
  readonly grant: { readonly remainingMs: number } | null;
  readonly upstream: {
    readonly epoch: number;
    readonly instance: string;
    readonly connected: boolean;
    readonly lastHeardMs: number | null;
  } | null;
  /** `lastSyncAgeMs` counts from the start of the write that is under way; 0 while nothing waits for the disk. */
  readonly writePath: { readonly lastSyncAgeMs: number; readonly stalled: boolean };
  readonly loopLagMs: number;
  readonly ready: boolean;
  readonly readyReason: string;
  readonly journal: {
    readonly firstSeq: number;
    readonly lastSeq: number;
    readonly bytes: number;
    readonly cutTails: number;
  };
  readonly snapshots: {
    /** Oldest first. */
    readonly ids: readonly string[];
    readonly taking: { readonly id: string; readonly bytes: number } | null;
    /** What a person should know of them; null when all is well. */
    readonly warning: string | null;
  };
  /** Work that must end before this replica can be ready; null when there is none. `rate` is units per second. */
  readonly progress: {
    readonly phase: "journal" | "snapshot" | "apply";
    readonly done: number;
    /** Null when only the end will tell. */
    readonly target: number | null;
    readonly rate: number | null;
  } | null;
  readonly diskFreeBytes: number;
  readonly configHash: string;
  readonly build: string;
  readonly capabilities: readonly string[];
  readonly lastError: string | null;
  /** The record that ended processes of this replica and build; null once it is applied, or when there is none. */
  readonly lastApplyFault: { readonly seq: number; readonly deaths: number; readonly error: string } | null;
}

/** What this engine can do beyond answering probes and status. */
const capabilities = [
  "fence",
  "promote",
  "follow",
  "demote",
  "members",
  "grant",
  "drain",
  "snapshots",
  "hash",
  "journal",
] as const;

/** A status with the moments that its ages are counted from, on the clock that all threads share. */
export interface StatusSnapshot {
  readonly status: EngineStatus;
  readonly takenAt: number;
  readonly writePath: WritePath;
  readonly upstreamHeardAt: number | null;
}

/** What a process is, whatever it does. */
export interface ProcessFacts {
  readonly config: Pick<EngineConfig, "instance" | "clusterUid" | "configHash" | "build" | "limits">;
  readonly processId: string;
  readonly diskFreeBytes: number;
  readonly lastError: string | null;
  readonly applyFault: ApplyFault | null;
}

export interface RunningParts {
  readonly snapshots: ReplicaSnapshots;
  readonly replica: Replica;
  readonly journal: Journal;
  readonly queue: CommitQueue;
  readonly exchange: Exchange;
  readonly promised: number;
}

const noSnapshots = { ids: [], taking: null, warning: null };

/** The snapshot of a process that still reads its journal, up to record `replayedSeq` by now. */
export const recoveringSnapshot = (
  facts: ProcessFacts,
  replayedSeq: number,
  replay: Replay | null,
  takenAt: number,
): StatusSnapshot => ({
  status: {
    ...identityOf(facts),
    role: facts.lastError === null ? "recovering" : "failed",
    epoch: { current: 0, promised: 0, startSeq: 0 },
    blank: false,
    durable: { epoch: 0, seq: replayedSeq },
    watermarks: { received: replayedSeq, durable: replayedSeq, committed: 0, applied: 0 },
    lastHash: { seq: 0, hash: "" },
    sync: null,
    grant: null,
    upstream: null,
    ready: false,
    readyReason: `reading the journal, at record ${replayedSeq}`,
    journal: { firstSeq: 0, lastSeq: replayedSeq, bytes: 0, cutTails: 0 },
    snapshots: noSnapshots,
    progress: {
      phase: replay === null ? "snapshot" : "journal",
      done: replayedSeq,
      target: null,
      rate: replay === null ? null : perSecond(replayedSeq - replay.fromSeq, takenAt - replay.since),
    },
  },
  takenAt,
  writePath: { pendingSince: null },
  upstreamHeardAt: null,
});

/** The snapshot of a process that takes part. */
export const runningSnapshot = (facts: ProcessFacts, parts: RunningParts, takenAt: number): StatusSnapshot => {
  const { replica, journal, queue, exchange } = parts;
  const { standing } = replica;
  const link = "following" in standing ? standing.following?.link : undefined;
  const term = "term" in standing ? standing.term : null;
  const grantMs = term?.grantRemainingMs ?? null;
  const readiness = readinessOf(facts, parts);
  return {
    status: {
      ...identityOf(facts),
      role: facts.lastError === null ? standing.role : "failed",
      epoch: {
        current: journal.last.epoch,
        promised: parts.promised,
        startSeq: journal.epochTable.entries.at(-1)?.startSeq ?? 0,
      },
      blank: replica.blank,
      durable: journal.durable,
      watermarks: {
        received: queue.received,
        durable: journal.durable.seq,
        committed: queue.committed,
        applied: exchange.appliedSeq,
      },
      lastHash: exchange.lastHash,
      sync:
        term === null
          ? null
          : {
              k: term.syncSet.k,
              version: term.syncSet.version,
              members: term.members(),
              satisfied: term.satisfied,
            },
      grant: grantMs === null ? null : { remainingMs: grantMs },
      upstream:
        link === undefined
          ? null
          : {
              epoch: link.target.epoch,
              instance: link.target.instance,
              connected: link.connected,
              lastHeardMs: ageOf(link.lastHeardAt, takenAt),
            },
      ready: readiness === null,
      readyReason: readiness ?? "ready",
      journal: journal.size,
      snapshots: {
        ids: parts.snapshots.store.manifests.map(idOf),
        taking: parts.snapshots.taker.taking,
        warning: parts.snapshots.warning,
      },
      progress: progressOf(parts),
    },
    takenAt,
    writePath: journal.writePath,
    upstreamHeardAt: link?.lastHeardAt ?? null,
  };
};

const perSecond = (count: number, milliseconds: number): number | null =>
  milliseconds <= 0 ? null : Math.round((count * 1_000) / milliseconds);

/** What a standby is catching up with. */
const progressOf = ({ replica, queue, exchange }: RunningParts): EngineStatus["progress"] => {
  const { standing } = replica;
  if (!("following" in standing) || standing.following === null) return null;
  const { fetching } = standing.following.link;
  if (fetching !== null) return { phase: "snapshot", done: fetching.bytes, target: fetching.total, rate: null };
  if (exchange.appliedSeq === queue.committed) return null;
  return { phase: "apply", done: exchange.appliedSeq, target: queue.committed, rate: null };
};

/** Why this replica is not ready; null when it is. */
const readinessOf = (facts: ProcessFacts, { replica, queue, exchange }: RunningParts): string | null => {
  const { standing } = replica;
  if (facts.lastError !== null) return facts.lastError;
  if ("term" in standing) {
    const gate = standing.term.gate();
    return gate.kind === "shut" ? gate.why : null;
  }
  if (standing.role === "halted") return describeFault(standing.fault);
  const link = standing.following?.link;
  if (link === undefined) return "not told whom to follow";
  const { fetching } = link;
  if (fetching !== null) return `fetching a snapshot, ${fetching.bytes} of ${fetching.total} bytes`;
  if (!link.connected) return `not connected to ${link.target.instance}`;
  const behind = queue.committed - exchange.appliedSeq;
  return behind > facts.config.limits.maxLagRecords ? `${behind} committed records are not applied yet` : null;
};

const identityOf = ({ config, processId, diskFreeBytes, lastError, applyFault }: ProcessFacts) => ({
  contractVersion: 1 as const,
  instance: config.instance,
  clusterUid: config.clusterUid,
  processId,
  writePath: { lastSyncAgeMs: 0, stalled: false },
  loopLagMs: 0,
  diskFreeBytes,
  configHash: config.configHash,
  build: config.build,
  capabilities,
  lastError,
  lastApplyFault:
    applyFault === null ? null : { seq: applyFault.seq, deaths: applyFault.deaths, error: applyFault.error },
});

const ageOf = (since: number | null, now: number): number | null => (since === null ? null : Math.max(0, now - since));

/**
 * The status as of `now`, though the thread that took it may be busy or stuck since: ages go on, and a replica whose
 * main thread has been silent for the detection time is neither ready nor a primary to send orders to.
 */
export const statusAsOf = (snapshot: StatusSnapshot, now: number, limits: EngineLimits): EngineStatus => {
  const { status, writePath, upstreamHeardAt, takenAt } = snapshot;
  const loopLagMs = Math.max(0, now - takenAt - limits.heartbeatMs);
  const pendingMs = writePath.pendingSince === null ? 0 : Math.max(0, now - writePath.pendingSince);
  const stuck = loopLagMs > limits.detectionMs;
  return {
    ...status,
    writePath: { lastSyncAgeMs: pendingMs, stalled: pendingMs > limits.writeStallMs },
    loopLagMs,
    upstream: status.upstream === null ? null : { ...status.upstream, lastHeardMs: ageOf(upstreamHeardAt, now) },
    ready: status.ready && !stuck,
    readyReason: stuck ? `the main thread has been silent for ${Math.round(loopLagMs)} ms` : status.readyReason,
  };
};
