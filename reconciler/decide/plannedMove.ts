/** Reasons to move a healthy primary, and to which replica. */
import { annotations } from "../../api/names.ts";
import type { EngineSnapshot, ReplicaView } from "../observe/snapshot.ts";
import type { ElectionCause, TendStep } from "./plan.ts";
import { answering, isInSync } from "./replicaFacts.ts";
import { isPrimaryNext } from "./rollout.ts";
import type { PrimaryVerdict } from "./verdict.ts";

export interface PlannedMove {
  readonly cause: ElectionCause;
  readonly to: string;
  /** Every standby that is in sync, `to` among them. */
  readonly inSync: readonly string[];
}

/** A move that is wanted and can be made now without refusing an order for good. */
export function findPlannedMove(
  snapshot: EngineSnapshot,
  verdict: PrimaryVerdict & { readonly kind: "leading" | "leaving" },
  epoch: number,
  now: number,
): PlannedMove | undefined {
  const primary = verdict.name;
  const targets = readyTargets(snapshot, primary, epoch, now);
  const best = targets[0]?.name;
  const inSync = targets.map(({ name }) => name);

  const requested = targets.find(({ name }) => name === snapshot.annotations[annotations.switchoverTo])?.name;

  if (verdict.kind === "leaving") {
    const to = requested ?? best;
    return to === undefined ? undefined : { cause: "PodLeaving", to, inSync };
  }
  if (requested !== undefined) return { cause: "Requested", to: requested, inSync };
  // A fulfilled request is taken off first: it would call a primary back that moves on, which then moves on again.
  if (snapshot.annotations[annotations.switchoverTo] === primary) return undefined;

  const isCordoned = snapshot.replicas.some(({ name, pod }) => name === primary && pod?.nodeSchedulable === false);
  const elsewhere = targets.find(({ pod }) => pod?.nodeSchedulable === true)?.name;
  if (isCordoned && elsewhere !== undefined) return { cause: "PodLeaving", to: elsewhere, inSync };

  if (best !== undefined && isPrimaryNext(snapshot, primary, epoch, now)) return { cause: "Rollout", to: best, inSync };
  return undefined;
}

/** Standbys that could take over at once; those that a rollout would not touch again, and in quiet places, first. */
function readyTargets(
  { replicas, spec }: EngineSnapshot,
  primary: string,
  epoch: number,
  now: number,
): readonly ReplicaView[] {
  const cost = ({ pod }: ReplicaView): number =>
    (pod?.nodeSchedulable === true ? 0 : 2) + (pod?.outdated === true ? 1 : 0);
  return replicas
    .filter((replica) => {
      const status = answering(replica, now, spec.failoverStrategy.detectionMilliseconds);
      if (status === undefined || replica.name === primary) return false;
      if (replica.pod?.terminating !== false || replica.ordinal >= spec.replicas) return false;
      return isInSync(status, primary, epoch);
    })
    .sort((a, b) => cost(a) - cost(b) || a.ordinal - b.ordinal);
}

/** Takes a request of a person off once it is fulfilled or can never be. */
export function settleRequests({ annotations: set, replicas }: EngineSnapshot, primary: string): readonly TendStep[] {
  const value = set[annotations.switchoverTo];
  if (value === undefined) return [];
  const drop = (refusal: string | undefined): readonly TendStep[] => [
    { kind: "dropRequest", annotation: annotations.switchoverTo, value, refusal },
  ];
  if (value === primary) return drop(undefined);
  const names = replicas.map(({ name }) => name);
  return names.includes(value) ? [] : drop(`${value} is no replica of this engine; name one of ${names.join(", ")}`);
}
