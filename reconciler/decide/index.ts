export { type Candidate, chooseCandidate } from "./candidate.ts";
export { combinedRule, promisesNeeded, ruleInForce, sameRule, wantedRule } from "./commitRule.ts";
export { decide } from "./decide.ts";
export { countPromises, type Promises } from "./electorate.ts";
export { grantMs, needsGrant } from "./grant.ts";
export type {
  Blockage,
  Decision,
  Drain,
  ElectionCause,
  ElectionPlan,
  Electorate,
  GrantStep,
  Participant,
  Plan,
  RecordPlan,
  RuleChangePlan,
  TendStep,
} from "./plan.ts";
export { answering, isInSync, leadsIn } from "./replicaFacts.ts";
export type { DeathCause, PrimaryVerdict } from "./verdict.ts";
