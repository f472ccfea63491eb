import type { ReplicaStatus } from "../../api/tradingEngine/index.ts";
import { answering, isInSync, type PrimaryVerdict } from "../decide/index.ts";
import type { EngineSnapshot, ReplicaView } from "../observe/snapshot.ts";
import type { ReplicaProblem } from "./replicaProblem.ts";

/** Name of the pod that leads, as far as is known. */
export const primaryOf = (verdict: PrimaryVerdict): string | undefined =>
  verdict.kind === "none" || verdict.kind === "dead" ? undefined : verdict.name;

/** The replicas as they are published. */
export function describeReplicas(
  snapshot: EngineSnapshot,
  verdict: PrimaryVerdict,
  problems: readonly ReplicaProblem[],
  now: number,
): readonly ReplicaStatus[] {
  return snapshot.replicas.map((replica) => describe(snapshot, replica, verdict, problems, now));
}

function describe(
  { spec, lease }: EngineSnapshot,
  replica: ReplicaView,
  verdict: PrimaryVerdict,
  problems: readonly ReplicaProblem[],
  now: number,
): ReplicaStatus {
  const { name, pod } = replica;
  const status = answering(replica, now, spec.failoverStrategy.detectionMilliseconds);
  const primary = primaryOf(verdict);
  const isPrimary = name === primary;
  const problem = problems.find((candidate) => candidate.replica === name)?.message;
  const message = problem ?? (status === undefined || status.ready ? undefined : status.readyReason);
  return {
    name,
    role: isPrimary ? "Primary" : status === undefined ? "Unknown" : "Standby",
    ready: status?.ready === true,
    inSync: status !== undefined && (isPrimary || isInSync(status, primary ?? "", lease?.epoch ?? 0)),
    ...(pod?.image === undefined ? {} : { image: pod.image }),
    ...(pod?.node === undefined ? {} : { node: pod.node }),
    ...(message === undefined ? {} : { message: message.slice(0, 1024) }),
  };
}
