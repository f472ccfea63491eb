import { checkClientIds, checkSequence, checkSurvival } from "./acknowledgements.ts";
import { checkAgreement, checkShown } from "./agreement.ts";
import type { History } from "./history.ts";
import { checkClusters, checkLeadership, checkPromises } from "./leadership.ts";
import { checkCancellations, checkPriority, checkSpread, checkTrades } from "./trading.ts";
import type { Check, Violation } from "./violation.ts";

const checks: readonly Check<History>[] = [
  checkSurvival,
  checkSequence,
  checkLeadership,
  checkTrades,
  checkPriority,
  checkSpread,
  checkAgreement,
  checkClientIds,
  checkCancellations,
  checkShown,
  checkPromises,
  checkClusters,
];

/** The promises I1 to I14 that a history breaks; empty when it keeps them all. */
export const checkInvariants = (history: History): Violation[] => checks.flatMap((check) => [...check(history)]);
