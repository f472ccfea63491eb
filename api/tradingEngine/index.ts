/** TradingEngine v1alpha1: its types, its conditions, and how to parse one. */
export {
  type Condition,
  type ConditionReason,
  type ConditionType,
  conditionReasons,
  conditionTypes,
} from "./conditions.ts";
export { explainProblems, type FieldProblem, parseSpec, parseTradingEngine, type Result } from "./parse.ts";
export type { TradingEngineSpec, TradingEngineSpecInput } from "./spec.ts";
export type {
  EnginePhase,
  FailoverPhases,
  LastFailover,
  LastUpdate,
  ReplicaStatus,
  TradingEngineStatus,
} from "./status.ts";
export { longestName, type TradingEngine } from "./tradingEngine.ts";
