import type { RecordPlan } from "../decide/index.ts";
import type { ActWorld } from "./ports.ts";

/** Makes good the last step of an election whose initiator died: Lease and route, in that order. */
export async function runRecording(plan: RecordPlan, { writes }: ActWorld): Promise<void> {
  await writes.putLease({
    version: plan.leaseVersion,
    holder: plan.primary,
    epoch: plan.epoch,
    rule: plan.rule,
    established: true,
  });
  for (const { name, pod, role } of plan.participants)
    if (name !== plan.primary && role === "primary") await writes.labelRole(pod, "standby");
  const primary = plan.participants.find(({ name }) => name === plan.primary);
  if (primary !== undefined && primary.role !== "primary") await writes.labelRole(primary.pod, "primary");
}
