import type { Rule } from "../rule.ts";
import { accessRules } from "./access.ts";
import { commitRules } from "./commit.ts";
import { failoverRules } from "./failover.ts";
import { fenceRules } from "./fence.ts";
import { followRules } from "./follow.ts";
import { grantRules } from "./grant.ts";
import { observeRules } from "./observe.ts";
import { orderRules } from "./orders.ts";
import { plannedRules } from "./planned.ts";
import { processRules } from "./process.ts";
import { promoteRules } from "./promote.ts";
import { startRules } from "./start.ts";

/** Every rule for an engine that speaks the contract over HTTP. */
export const httpRules: readonly Rule[] = [
  ...startRules,
  ...accessRules,
  ...fenceRules,
  ...promoteRules,
  ...commitRules,
  ...failoverRules,
  ...orderRules,
  ...followRules,
  ...plannedRules,
  ...grantRules,
  ...observeRules,
  ...processRules,
];
