import type { CommitRule, EngineSnapshot } from "../observe/snapshot.ts";

/** How many different members must promise before earlier epochs can neither hide nor confirm an order. */
export const promisesNeeded = (rule: CommitRule): number => rule.members.length - rule.k;

export const sameRule = (a: CommitRule, b: CommitRule): boolean =>
  a.k === b.k && a.members.length === b.members.length && a.members.every((member) => b.members.includes(member));

/**
 * A rule that is safe whichever of the two is in force: every member of either, and the smaller k. The Lease says it
 * while an election moves from one rule to the other, because the initiator may die at any point.
 */
export const combinedRule = (a: CommitRule, b: CommitRule): CommitRule => ({
  members: [...new Set([...a.members, ...b.members])].sort(),
  k: Math.min(a.k, b.k),
});

/** The rule that the spec asks for. */
export const wantedRule = ({ replicas, spec }: EngineSnapshot): CommitRule => ({
  members: replicas
    .filter(({ ordinal }) => ordinal < spec.replicas)
    .map(({ name }) => name)
    .sort(),
  k: spec.failoverStrategy.syncStandbys,
});

/** The rule that the current epoch acknowledges by. */
export const ruleInForce = (snapshot: EngineSnapshot): CommitRule => snapshot.lease?.rule ?? wantedRule(snapshot);
