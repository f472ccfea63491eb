import type { EnginePhase } from "../../api/tradingEngine/index.ts";
import type { Facts } from "./conditions.ts";
import type { Judgement } from "./judgement.ts";

/** One word for a table's column; the first that fits, the gravest first. */
export function phaseOf({ snapshot, decision, problems }: Facts, conditions: readonly Judgement[]): EnginePhase {
  const is = (type: Judgement["type"]): Judgement["status"] | undefined =>
    conditions.find((condition) => condition.type === type)?.status;
  const { verdict, blocked } = decision;
  if (snapshot.deleting) return "Deleting";
  if (snapshot.spec.paused) return "Paused";
  if (snapshot.spec.hibernate) return "Hibernated";
  if (blocked !== undefined) return "Blocked";
  if (verdict.kind === "none" && verdict.epoch === 0) return "Pending";
  if (verdict.kind === "none" || verdict.kind === "dead" || verdict.kind === "unrecorded") return "FailingOver";
  if (problems.length > 0) return "Degraded";
  if (snapshot.replicas.some(({ pod }) => pod?.outdated === true)) return "Updating";
  return is("Ready") === "True" ? "Trading" : "Degraded";
}
