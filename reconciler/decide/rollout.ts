/** Which pod is replaced next when the template has changed: the StatefulSet itself deletes none (OnDelete). */
import type { EngineSnapshot, PodView, ReplicaView } from "../observe/snapshot.ts";
import type { TendStep } from "./plan.ts";
import { answering, isInSync } from "./replicaFacts.ts";

/**
 * Outdated pods in which no process runs (an image that cannot be pulled, a pod no node takes, a
 * crash loop). Nothing is lost with them, and nothing else would ever replace them.
 */
export const deleteBroken = ({ replicas, spec }: EngineSnapshot, now: number): readonly TendStep[] =>
  replicas.flatMap((replica) => {
    const { pod } = replica;
    if (pod === undefined || !pod.outdated || pod.terminating || pod.container.kind === "running") return [];
    // The kubelet's report lags by a second or two: what answers runs, and may even lead.
    if (answering(replica, now, spec.failoverStrategy.detectionMilliseconds) !== undefined) return [];
    return [deletion(pod, "it was made from an outdated template and does not run")];
  });

/**
 * The next outdated standby. One at a time, and only while every other standby is in sync, so that a loss of the
 * primary at that moment can still be survived where there is a third replica. The one that is not in sync itself
 * therefore goes first.
 */
export function deleteNextStandby(
  snapshot: EngineSnapshot,
  primary: string,
  epoch: number,
  now: number,
): readonly TendStep[] {
  const standbys = snapshot.replicas.filter(({ name }) => name !== primary);
  const next = standbys.find(
    ({ name, pod }) =>
      pod?.outdated === true &&
      !pod.terminating &&
      standbys.every((other) => other.name === name || isStandbyInSync(snapshot, other, primary, epoch, now)),
  );
  if (next?.pod === undefined) return [];
  return [deletion(next.pod, "it is a standby made from an outdated template")];
}

/** The only replica there is: nobody can take over from it first. */
export function deleteOnlyReplica({ replicas }: EngineSnapshot): readonly TendStep[] {
  const [only, another] = replicas;
  if (another !== undefined || only?.pod === undefined || !only.pod.outdated || only.pod.terminating) return [];
  return [deletion(only.pod, "it was made from an outdated template")];
}

/** The primary is the last outdated pod and every standby could take over. */
export function isPrimaryNext(snapshot: EngineSnapshot, primary: string, epoch: number, now: number): boolean {
  const pod = snapshot.replicas.find(({ name }) => name === primary)?.pod;
  const standbys = snapshot.replicas.filter(({ name }) => name !== primary);
  return (
    pod?.outdated === true &&
    standbys.length > 0 &&
    standbys.every(
      (replica) => replica.pod?.outdated === false && isStandbyInSync(snapshot, replica, primary, epoch, now),
    )
  );
}

/**
 * In sync by its own word, and Ready by the kubelet's: a planned step has time to wait for the probe that the Services
 * and the disruption budget go by.
 */
function isStandbyInSync(
  { spec }: EngineSnapshot,
  replica: ReplicaView,
  primary: string,
  epoch: number,
  now: number,
): boolean {
  const status = answering(replica, now, spec.failoverStrategy.detectionMilliseconds);
  const { pod } = replica;
  return status !== undefined && pod?.terminating === false && pod.ready && isInSync(status, primary, epoch);
}

const deletion = ({ name, uid }: PodView, why: string): TendStep => ({ kind: "deletePod", pod: name, uid, why });
