/** The shape lane: what should exist, by `pulumi up` in worker processes; never who leads. */
export { followEngines, reasonOf } from "./followEngines.ts";
export { readProgramVersion } from "./programVersion.ts";
export {
  createShapeLane,
  type ShapeLane,
  type ShapeLaneConfig,
  type ShapeLaneOptions,
  type ShapeLogger,
} from "./shapeLane.ts";
export type { ChildDrift, EngineKey, ShapeReason, ShapeResult } from "./shapeResult.ts";
