/**
 * Engine contract, version 1: what travels on an engine's control port, as the
 * reconciler reads and writes it. The engine has its own types: what a peer sends is
 * parsed here and never trusted.
 */
import { z } from "zod";

export const contractVersion = 1;

/** A point in the history of an engine: `seq` is gap-free, `epoch` never decreases with it. */
export const position = z.object({ epoch: z.int().min(0), seq: z.int().min(0) });
export type Position = z.infer<typeof position>;

/** Orders positions by epoch, then by sequence. Negative when `a` is behind `b`. */
export const comparePositions = (a: Position, b: Position): number => a.epoch - b.epoch || a.seq - b.seq;

export const engineRole = z.enum(["recovering", "standby", "primary", "fenced", "draining", "halted", "failed"]);
export type EngineRole = z.infer<typeof engineRole>;

/** One replica as its primary's replication sees it. */
export const syncMember = z.object({
  instance: z.string(),
  connected: z.boolean(),
  durableSeq: z.int(),
  /** Connected and caught up: an acknowledgement may count on it. */
  inSync: z.boolean(),
});
export type SyncMember = z.infer<typeof syncMember>;

/** What a standby knows of the primary that it follows. */
export const upstream = z.object({
  epoch: z.int(),
  instance: z.string(),
  /** False once the replication connection is closed or refused. */
  connected: z.boolean(),
  /** Since the last byte from the primary; null when it was never heard. */
  lastHeardMs: z.number().nullable(),
});
export type Upstream = z.infer<typeof upstream>;

/** GET /v1/status, and the `status` line of GET /v1/status/stream. */
export const engineStatus = z.object({
  contractVersion: z.int(),
  instance: z.string(),
  clusterUid: z.string(),
  /** Changes with every process start. */
  processId: z.string(),
  role: engineRole,
  /** `current` = epoch of the last record held; `promised` = lower epochs are refused, durably. */
  epoch: z.object({ current: z.int(), promised: z.int(), startSeq: z.int() }),
  /** True while this replica holds no history at all: its promise finds no order. */
  blank: z.boolean(),
  /** Position of the last fsynced record. */
  durable: position,
  /** Sequence numbers. */
  watermarks: z.object({ received: z.int(), durable: z.int(), committed: z.int(), applied: z.int() }),
  lastHash: z.object({ seq: z.int(), hash: z.string() }),
  /** On a primary only. */
  sync: z.object({ k: z.int(), version: z.int(), members: z.array(syncMember), satisfied: z.boolean() }).nullable(),
  /** On a replica that was told to follow. */
  upstream: upstream.nullable(),
  /** `lastSyncAgeMs` counts from the start of the write that is under way; 0 while nothing waits for the disk. */
  writePath: z.object({ lastSyncAgeMs: z.number(), stalled: z.boolean() }),
  loopLagMs: z.number(),
  /** The same as /readyz. */
  ready: z.boolean(),
  readyReason: z.string(),
  journal: z.object({ firstSeq: z.int(), lastSeq: z.int(), bytes: z.int(), cutTails: z.int() }),
  diskFreeBytes: z.number(),
  /** SHA-256 of the configuration file that this process runs with. */
  configHash: z.string(),
  build: z.string(),
  capabilities: z.array(z.string()),
  lastError: z.string().nullable(),
  /** The record that ended `deaths` processes of this replica and build while it was applied. */
  lastApplyFault: z.object({ seq: z.int(), deaths: z.int(), error: z.string() }).nullable().default(null),
});
export type EngineStatus = z.infer<typeof engineStatus>;

/** Lines of GET /v1/status/stream?heartbeatMs=N (application/x-ndjson). */
export const streamLine = z.discriminatedUnion("type", [
  z.object({ type: z.literal("status"), status: engineStatus }),
  z.object({
    type: z.literal("heartbeat"),
    durable: position,
    committed: z.int(),
    writePath: z.object({ lastSyncAgeMs: z.number(), stalled: z.boolean() }),
    /** `upstream.lastHeardMs` and `.connected` as of now. */
    lastHeardFromPrimaryMs: z.number().nullable(),
    upstreamConnected: z.boolean(),
  }),
]);
export type StreamLine = z.infer<typeof streamLine>;

/** Sent with every mutating call; the same opId gets the same answer. */
export interface CallIdentity {
  readonly clusterUid: string;
  readonly epoch: number;
  readonly opId: string;
}

/** POST /v1/fence: durably promise to refuse lower epochs. */
export type FenceRequest = CallIdentity;
/** The answer's `durable` is at or beyond everything this replica ever acknowledged. */
export const fenceAnswer = z.object({
  instance: z.string(),
  promised: z.int(),
  durable: position,
  blank: z.boolean(),
  /** This replica was primary until this fence: it holds every acknowledged order. */
  wasPrimary: z.boolean(),
  /** The highest epoch that this replica was primary in; 0 if never. */
  primaryEpoch: z.int(),
});
export type FenceAnswer = z.infer<typeof fenceAnswer>;

/** POST /v1/promote. */
export interface PromoteRequest extends CallIdentity {
  readonly minPosition: Position;
  /** The other replicas; k of them must hold a record before it is acknowledged. */
  readonly members: readonly string[];
  readonly k: number;
  readonly resume: "open" | "cancelOnly";
}
export const promoteAnswer = z.object({ instance: z.string(), epoch: z.int(), durable: position });
export type PromoteAnswer = z.infer<typeof promoteAnswer>;

/** POST /v1/follow. */
export interface FollowRequest extends CallIdentity {
  readonly upstream: {
    readonly instance: string;
    /** host:port of its replication listener. */
    readonly replication: string;
    /** host:port of its order entry: the hint in a 421. */
    readonly orders: string;
  };
}
export const followAnswer = z.object({ instance: z.string(), epoch: z.int(), durable: position });
export type FollowAnswer = z.infer<typeof followAnswer>;

/** POST /v1/demote: stop intake, commit the tail, answer the final position, become standby. */
export interface DemoteRequest extends CallIdentity {
  readonly deadlineMs: number;
}
export const demoteAnswer = z.object({ instance: z.string(), final: position });
export type DemoteAnswer = z.infer<typeof demoteAnswer>;

/** POST /v1/grant: permission to acknowledge for a time; a primary with k = 0 needs one. */
export interface GrantRequest extends CallIdentity {
  readonly ttlMs: number;
}
export const grantAnswer = z.object({ instance: z.string(), epoch: z.int(), ttlMs: z.int() });
export type GrantAnswer = z.infer<typeof grantAnswer>;

/** PUT /v1/members: change the sync set. */
export interface MembersRequest extends CallIdentity {
  readonly version: number;
  readonly members: readonly string[];
  readonly k: number;
}

/** Everything that is committed is durable under the new rule. */
export const membersAnswer = z.object({ instance: z.string(), version: z.int(), committed: z.int() });
export type MembersAnswer = z.infer<typeof membersAnswer>;

/** application/problem+json of a refusal; `code` is stable. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum([
    "STALE_EPOCH",
    "BEHIND",
    "HALTED",
    "RECOVERING",
    "NEED_SNAPSHOT",
    "WRONG_STATE",
    "OP_ID_REUSED",
    "BUSY",
    "PENDING",
    "GONE",
    "NO_SPACE",
    "WRONG_CLUSTER",
    "UNAUTHORIZED",
    "BAD_REQUEST",
    "NOT_FOUND",
    "TIMEOUT",
    "INTERNAL",
  ]),
  detail: z.string().optional(),
  /** With STALE_EPOCH: what was promised. */
  promised: z.int().optional(),
});
export type Problem = z.infer<typeof problem>;

/** A line of GET /v1/journal?fromSeq=N: the durable history, for audits. */
export const journalLine = z.object({
  epoch: z.int(),
  seq: z.int(),
  type: z.string(),
  /** Of an order; absent on other records. */
  clientId: z.string().optional(),
  orderId: z.string().optional(),
});
export type JournalLine = z.infer<typeof journalLine>;
