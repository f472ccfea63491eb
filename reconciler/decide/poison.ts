import type { EngineSnapshot, ReplicaView } from "../observe/snapshot.ts";
import type { Blockage } from "./plan.ts";

/** The engine's exit code for a record that it cannot apply, whoever applies it. */
const applyFault = 70;

/**
 * The same record ended more than one instance. A third would end the same way, so failing over
 * only spreads the damage.
 */
export function findPoison({ replicas }: EngineSnapshot): Blockage | undefined {
  const victims = new Map<string, string[]>();
  for (const replica of replicas) {
    for (const record of recordsThatEnded(replica)) victims.set(record, [...(victims.get(record) ?? []), replica.name]);
  }
  for (const [record, names] of victims) {
    if (names.length < 2) continue;
    return {
      reason: "RecordStopsReplicas",
      message: `Record ${record} ended ${names.join(" and ")} while it was applied. No further replica is made primary: correct the engine's image, which is then rolled out.`,
    };
  }
  return undefined;
}

/** By what its process left to the kubelet, and by what its volume remembers when the pod is a new one. */
function recordsThatEnded({ pod, stream }: ReplicaView): ReadonlySet<string> {
  const records = new Set<string>();
  const exit = pod?.container.kind === "terminated" ? pod.container : pod?.lastExit;
  // The termination message names the record; instances write the same for the same one.
  const left = exit?.exitCode === applyFault ? /"seq"\s*:\s*(\d+)/.exec(exit.message)?.[1] : undefined;
  if (left !== undefined) records.add(left);
  const remembered = stream?.status?.lastApplyFault?.seq;
  if (remembered !== undefined) records.add(String(remembered));
  return records;
}
