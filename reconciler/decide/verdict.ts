/** What has become of the primary: the table of the failover design as a pure function. */
import type { EngineStatus } from "../../api/contract/v1.ts";
import type { EngineSnapshot, LeaseView, ReplicaView } from "../observe/snapshot.ts";
import { ruleInForce } from "./commitRule.ts";
import { answering, answeringReplicas, leadsIn, silenceOf } from "./replicaFacts.ts";

/** Why a primary counts as dead. */
export type DeathCause = "PodDeleted" | "ContainerTerminated" | "ProcessExited" | "ProcessRestarted" | "Silent";

export type PrimaryVerdict =
  /** The Lease names nobody, and nobody leads. `epoch` is the Lease's; 0 without one. */
  | { readonly kind: "none"; readonly epoch: number }
  /** Leads by its own words, in an epoch that the Lease does not give to it: an initiator died before its last step. */
  | { readonly kind: "unrecorded"; readonly name: string; readonly epoch: number }
  | { readonly kind: "leading"; readonly name: string; readonly status: EngineStatus }
  /** Leads, but its pod is on its way out. */
  | { readonly kind: "leaving"; readonly name: string; readonly status: EngineStatus }
  /** Alive, but its write path makes no progress: a grey failure. */
  | { readonly kind: "stalled"; readonly name: string; readonly status: EngineStatus; readonly since: number }
  /** Not heard just now; too early for a verdict. */
  | { readonly kind: "suspect"; readonly name: string; readonly since: number }
  /** Not heard here, but its standbys hear it: our own path is cut. */
  | { readonly kind: "cutOff"; readonly name: string; readonly since: number; readonly heardBy: readonly string[] }
  | { readonly kind: "dead"; readonly name: string; readonly cause: DeathCause; readonly since: number };

/**
 * A status line that was sent before a promotion may arrive after the Lease that records it. For so long after a
 * change of the Lease, a holder that says it is no primary is not yet taken at its word.
 */
const leaseSettlesMs = 500;

/** Judges the primary as of `now`. */
export function judgePrimary(snapshot: EngineSnapshot, now: number): PrimaryVerdict {
  const { lease } = snapshot;
  const unrecorded = findUnrecorded(snapshot, now);
  if (unrecorded !== undefined) return unrecorded;
  if (lease === undefined || lease.holder === "") return { kind: "none", epoch: lease?.epoch ?? 0 };

  const name = lease.holder;
  const replica = snapshot.replicas.find((candidate) => candidate.name === name);
  if (replica?.pod === undefined) return { kind: "dead", name, cause: "PodDeleted", since: lastSign(replica, lease) };

  const status = answering(replica, now, snapshot.spec.failoverStrategy.detectionMilliseconds);
  return status === undefined
    ? judgeUnheard(snapshot, replica, lease, now)
    : judgeHeard(snapshot, replica, lease, status, now);
}

/** A primary of the newest epoch that the Lease does not name. A primary of an older epoch is stale, not unrecorded. */
function findUnrecorded(snapshot: EngineSnapshot, now: number): PrimaryVerdict | undefined {
  const { lease, published } = snapshot;
  const answers = answeringReplicas(snapshot, now);
  const floor = Math.max(lease?.epoch ?? 0, published?.epoch ?? 0);
  for (const { replica, status } of answers) {
    const epoch = leadsIn(status);
    if (epoch === undefined || epoch < floor) continue;
    if (epoch === lease?.epoch && lease.holder !== "") continue;
    if (answers.some((other) => other.status.epoch.promised > epoch)) continue;
    return { kind: "unrecorded", name: replica.name, epoch };
  }
  return undefined;
}

function judgeHeard(
  snapshot: EngineSnapshot,
  replica: ReplicaView,
  lease: LeaseView,
  status: EngineStatus,
  now: number,
): PrimaryVerdict {
  const { name, ordinal, pod } = replica;
  const heardAt = replica.stream?.lastHeardAt ?? now;
  if (leadsIn(status) !== lease.epoch) {
    if (heardAt < lease.seenAt + leaseSettlesMs) return { kind: "suspect", name, since: heardAt };
    return { kind: "dead", name, cause: "ProcessRestarted", since: replica.stream?.connection.since ?? heardAt };
  }
  const { lastSyncAgeMs, stalled } = status.writePath;
  if (stalled && lastSyncAgeMs >= snapshot.spec.failoverStrategy.writeStallMilliseconds)
    return { kind: "stalled", name, status, since: heardAt - lastSyncAgeMs };
  const isLeaving = pod?.terminating === true || ordinal >= snapshot.spec.replicas || status.role === "draining";
  return { kind: isLeaving ? "leaving" : "leading", name, status };
}

function judgeUnheard(snapshot: EngineSnapshot, replica: ReplicaView, lease: LeaseView, now: number): PrimaryVerdict {
  const { name, pod, stream } = replica;
  const since = lastSign(replica, lease);
  const witnesses = hearWitnesses(snapshot, name, now);
  // The kubelet's report lags by a second or two: while a standby hears the primary, it speaks of an earlier process.
  if (pod !== undefined && hasEnded(pod) && witnesses.hears.length === 0)
    return { kind: "dead", name, cause: "ContainerTerminated", since };
  if (isDropped(replica) && witnesses.lost.length > 0 && witnesses.hears.length === 0)
    return { kind: "dead", name, cause: "ProcessExited", since: stream?.connection.since ?? since };

  if (silenceOf(replica, now, lease.seenAt) < snapshot.spec.failoverStrategy.detectionMilliseconds)
    return { kind: "suspect", name, since };
  if (witnesses.hears.length > 0) return { kind: "cutOff", name, since, heardBy: witnesses.hears };
  const others = ruleInForce(snapshot).members.length - 1;
  if (witnesses.doNotHear.length < majorityOf(others)) return { kind: "suspect", name, since };
  return { kind: "dead", name, cause: "Silent", since };
}

const lastSign = (replica: ReplicaView | undefined, lease: LeaseView): number =>
  replica?.stream?.lastHeardAt ?? lease.seenAt;

const hasEnded = ({ phase, container }: NonNullable<ReplicaView["pod"]>): boolean =>
  container.kind === "terminated" ||
  (container.kind === "waiting" && container.reason === "CrashLoopBackOff") ||
  phase === "Failed" ||
  phase === "Succeeded";

/** The peer's kernel ended or refused the connection: a sign of a process that is gone, where silence is none. */
function isDropped({ stream }: ReplicaView): boolean {
  if (stream?.connection.kind !== "ended") return false;
  const { reason } = stream.connection;
  return reason === "refused" || reason === "reset" || reason === "closed";
}

const majorityOf = (count: number): number => (count === 0 ? 0 : Math.floor(count / 2) + 1);

/** What the other replicas that answer say of the primary. */
interface Witnesses {
  /** Heard it within the detection time. */
  readonly hears: readonly string[];
  /** Say that their connection to it is gone; a part of `doNotHear`. */
  readonly lost: readonly string[];
  readonly doNotHear: readonly string[];
}

function hearWitnesses(snapshot: EngineSnapshot, primary: string, now: number): Witnesses {
  const { detectionMilliseconds } = snapshot.spec.failoverStrategy;
  const hears: string[] = [];
  const lost: string[] = [];
  const doNotHear: string[] = [];
  for (const { replica, status } of answeringReplicas(snapshot, now)) {
    if (replica.name === primary) continue;
    const follows = status.upstream?.instance === primary ? status.upstream : undefined;
    if (follows?.connected === false) lost.push(replica.name);
    const staleMs = now - (replica.stream?.lastHeardAt ?? now);
    const heard = follows?.connected === true && (follows.lastHeardMs ?? Infinity) + staleMs < detectionMilliseconds;
    (heard ? hears : doNotHear).push(replica.name);
  }
  return { hears, lost, doNotHear };
}
