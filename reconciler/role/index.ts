export { createRoleLane, type RoleLane, type RoleLaneOptions, type RoleLogger } from "./roleLane.ts";
