export { type ElectionOutcome, runElection } from "./election.ts";
export { type ControlToken, createEngineCalls } from "./engineCalls.ts";
export { Granting } from "./granting.ts";
export { createKubeRoleWrites } from "./kubeRoleWrites.ts";
export { type ActClock, type ActWorld, type EngineCalls, LeaseTaken, type RoleWrites } from "./ports.ts";
export { runRecording } from "./recording.ts";
export { runRuleChange } from "./ruleChange.ts";
export { StepBackoff } from "./stepBackoff.ts";
export { runTending, stepKey, type TendResult } from "./tending.ts";
