export { createRoleMetrics, type EngineGauges, type ObservedElection, type RoleMetrics } from "./roleMetrics.ts";
