/** Single facts about a replica, each read in one place so that all verdicts mean the same by it. */
import type { EngineStatus } from "../../api/contract/v1.ts";
import type { EngineSnapshot, ReplicaView } from "../observe/snapshot.ts";

/** How long nothing was heard of a replica, in milliseconds; `fallback` is the instant to count from if it never was. */
export function silenceOf({ stream }: ReplicaView, now: number, fallback: number): number {
  return now - (stream?.lastHeardAt ?? stream?.connection.since ?? fallback);
}

/**
 * The status of a replica that answers now: its stream is open, was heard within the detection
 * time, and is really its own (a reused pod address may lead to a stranger).
 */
export function answering({ name, stream }: ReplicaView, now: number, withinMs: number): EngineStatus | undefined {
  if (stream?.connection.kind !== "live" || stream.lastHeardAt === undefined) return undefined;
  if (now - stream.lastHeardAt >= withinMs || stream.status?.instance !== name) return undefined;
  return stream.status;
}

/** The epoch that a replica leads in, by its own words; undefined when it is no primary. */
export const leadsIn = (status: EngineStatus): number | undefined =>
  status.role === "primary" || status.role === "draining" ? status.epoch.current : undefined;

/** A replica whose promise can be counted: it is past its replay, works, and holds history. */
export const canPromise = (status: EngineStatus): boolean =>
  !status.blank && status.role !== "recovering" && status.role !== "halted" && status.role !== "failed";

/** Every replica that answers now, with its status. */
export function answeringReplicas(
  { replicas, spec }: EngineSnapshot,
  now: number,
): readonly { readonly replica: ReplicaView; readonly status: EngineStatus }[] {
  return replicas.flatMap((replica) => {
    const status = answering(replica, now, spec.failoverStrategy.detectionMilliseconds);
    return status === undefined ? [] : [{ replica, status }];
  });
}

/** Follows `primary` in `epoch`, is connected to it and has caught up. */
export const isInSync = (status: EngineStatus, primary: string, epoch: number): boolean =>
  status.role === "standby" &&
  !status.blank &&
  status.ready &&
  status.upstream?.instance === primary &&
  status.upstream.epoch === epoch &&
  status.upstream.connected;

/** The highest epoch that anything reachable knows of. */
export function highestKnownEpoch({ lease, published, replicas }: EngineSnapshot): number {
  const reported = replicas.flatMap(({ stream }) => {
    const epoch = stream?.status?.epoch;
    return epoch === undefined ? [] : [epoch.current, epoch.promised];
  });
  return Math.max(0, lease?.epoch ?? 0, published?.epoch ?? 0, ...reported);
}

/** A primary was in place once, so that an empty replica may not lead. */
export const isEstablished = ({ lease, published, replicas }: EngineSnapshot): boolean =>
  lease?.established === true ||
  (published?.epoch ?? 0) > 0 ||
  replicas.some(({ stream }) => stream?.status !== undefined && holdsHistory(stream.status));

/** A replica in replay does not know yet whether it is blank. */
const holdsHistory = ({ role, blank }: EngineStatus): boolean => role !== "recovering" && !blank;
