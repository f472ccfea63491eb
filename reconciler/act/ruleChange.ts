import { combinedRule, grantMs, needsGrant, type RuleChangePlan, sameRule } from "../decide/index.ts";
import type { ActWorld } from "./ports.ts";

/**
 * Moves a leading primary to another rule. The Lease must never promise more copies, or fewer possible holders, than
 * there may be: it says the combination of both rules before the primary changes, and the new rule only afterwards.
 */
export async function runRuleChange(plan: RuleChangePlan, { calls, writes }: ActWorld): Promise<void> {
  const { primary, epoch, from, to } = plan;
  const between = combinedRule(from, to);
  const lease = { holder: primary.name, epoch, established: true };
  let version = plan.leaseVersion;
  if (!sameRule(from, between)) version = await writes.putLease({ ...lease, version, rule: between });
  // Under the new rule it would stop at once.
  if (needsGrant(to)) await calls.grant(primary, epoch, grantMs);
  await calls.setMembers(primary, epoch, plan.version, to);
  if (!sameRule(between, to)) await writes.putLease({ ...lease, version, rule: to });
}
