import type { ShapeReason } from "./shapeResult.ts";

/**
 * Higher goes first: an engine that runs one replica short cannot survive the next failure, drift may be cutting
 * clients off right now, a person waits for an edit, and after a restart the unchanged rest has all the time it needs.
 */
const priorities: Readonly<Record<ShapeReason, number>> = {
  Failover: 40,
  Drift: 30,
  Requested: 25,
  Deleted: 20,
  SpecChanged: 20,
  Created: 20,
  Resync: 0,
};

/** Priority in the workqueue. */
export const priorityOf = (reason: ShapeReason): number => priorities[reason];

/** The more urgent of two reasons for the same engine; the first when they are equally urgent. */
export const moreUrgent = (first: ShapeReason | undefined, second: ShapeReason): ShapeReason =>
  first === undefined || priorities[second] > priorities[first] ? second : first;
