import type { EngineSnapshot } from "../observe/snapshot.ts";
import type { Participant } from "./plan.ts";
import { answering } from "./replicaFacts.ts";

/** Every replica whose pod has an address, whether it answers or not: a fence is tried on all of them. */
export function participantsOf({ replicas, spec }: EngineSnapshot, now: number): readonly Participant[] {
  return replicas.flatMap((replica) => {
    const { name, ordinal, pod } = replica;
    if (pod?.ip === undefined) return [];
    const { uid, ip, outdated, nodeSchedulable, role, terminating } = pod;
    const status = answering(replica, now, spec.failoverStrategy.detectionMilliseconds);
    return {
      name,
      ordinal,
      pod: { name, uid, ip },
      answers: status !== undefined,
      ready: status?.ready === true && !terminating,
      outdated,
      nodeSchedulable,
      role,
    };
  });
}
