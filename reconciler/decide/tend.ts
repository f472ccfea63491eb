/** Small corrections around a primary that leads. */
import type { EngineSnapshot } from "../observe/snapshot.ts";
import { participantsOf } from "./participants.ts";
import type { TendStep } from "./plan.ts";
import { answering, leadsIn } from "./replicaFacts.ts";

/** Replicas that lead an older epoch are fenced, and those that do not follow the primary are told to. */
export function alignReplicas(
  snapshot: EngineSnapshot,
  primary: string,
  epoch: number,
  now: number,
): readonly TendStep[] {
  const participants = participantsOf(snapshot, now);
  const upstream = participants.find(({ name }) => name === primary);
  if (upstream === undefined) return [];
  return snapshot.replicas.flatMap((view): readonly TendStep[] => {
    const replica = participants.find(({ name }) => name === view.name);
    const status = answering(view, now, snapshot.spec.failoverStrategy.detectionMilliseconds);
    if (replica === undefined || status === undefined || view.name === primary) return [];
    if (leadsIn(status) !== undefined) return [{ kind: "fence", replica, epoch }];
    // A replica in replay refuses to follow; one that halted or failed needs a person or a new process.
    if (status.role !== "standby" && status.role !== "fenced") return [];
    if (status.upstream?.instance === primary && status.upstream.epoch === epoch) return [];
    return [{ kind: "follow", replica, upstream, epoch }];
  });
}

/** Corrects the role labels; what leads to an old primary goes before the new one is added. */
export function alignLabels({ replicas }: EngineSnapshot, primary: string): readonly TendStep[] {
  const label = (role: "primary" | "standby"): readonly TendStep[] =>
    replicas.flatMap(({ name, pod }) => {
      const wanted = name === primary ? "primary" : "standby";
      if (pod === undefined || wanted !== role || pod.role === role) return [];
      return [{ kind: "label", pod: name, uid: pod.uid, role }];
    });
  return [...label("standby"), ...label("primary")];
}
