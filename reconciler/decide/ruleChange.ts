import type { EngineSnapshot } from "../observe/snapshot.ts";
import { ruleInForce, sameRule, wantedRule } from "./commitRule.ts";
import { participantsOf } from "./participants.ts";
import type { RuleChangePlan } from "./plan.ts";
import { answering, isInSync } from "./replicaFacts.ts";
import type { PrimaryVerdict } from "./verdict.ts";

/**
 * The spec asks for other members or another k than the Lease or the primary has. New members must have caught up
 * first, because an empty one would be counted on for promises that it cannot give; and enough of all must be in sync
 * to go on acknowledging under the new rule.
 */
export function planRuleChange(
  snapshot: EngineSnapshot,
  { name, status }: PrimaryVerdict & { readonly kind: "leading" | "leaving" },
  now: number,
): RuleChangePlan | undefined {
  const { lease, spec, replicas } = snapshot;
  const primary = participantsOf(snapshot, now).find((participant) => participant.name === name);
  if (lease === undefined || primary === undefined || status.sync === null) return undefined;
  const to = wantedRule(snapshot);
  const from = ruleInForce(snapshot);
  const { k, members, version } = status.sync;
  const running = { members: [name, ...members.map(({ instance }) => instance)], k };
  if (!to.members.includes(name) || (sameRule(to, running) && sameRule(to, from))) return undefined;

  const inSync = new Set(
    replicas
      .filter((replica) => {
        const answer = answering(replica, now, spec.failoverStrategy.detectionMilliseconds);
        return answer !== undefined && isInSync(answer, name, status.epoch.current);
      })
      .map((replica) => replica.name),
  );
  const others = to.members.filter((member) => member !== name);
  const isNewBehind = others.some((member) => !from.members.includes(member) && !inSync.has(member));
  if (isNewBehind || others.filter((member) => inSync.has(member)).length < to.k) return undefined;
  return {
    kind: "changeRule",
    primary,
    epoch: status.epoch.current,
    leaseVersion: lease.resourceVersion,
    from,
    to,
    version: version + 1,
  };
}
