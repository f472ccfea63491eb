/** What happened to a child that is not as we left it, and who did it: as far as the API server can tell. */
import { fieldManagers } from "../../api/names.ts";
import type { KubeObject } from "../kube/index.ts";
import { foreignOwners } from "./ownFields.ts";
import type { ChildDrift } from "./shapeResult.ts";

/** More paths than this help nobody to find the change. */
const mostFields = 5;

/** @param object The child as it is now; `undefined` when it is gone, and with it any trace of who deleted it. */
export const describeDrift = (child: string, object: KubeObject | undefined): ChildDrift => {
  if (object === undefined) return { child, what: "deleted", who: [], fields: [] };
  const appliedAt = lastApplied(object);
  const later = foreignOwners(object, fieldManagers.shape).filter(({ time }) => time >= appliedAt);
  return {
    child,
    what: "changed",
    who: [...new Set(later.map(({ who }) => who))],
    fields: later.flatMap(({ fields }) => fields).slice(0, mostFields),
  };
};

/** As a sentence for an Event. */
export const driftSentence = ({ child, what, who, fields }: ChildDrift): string => {
  const by = who.length === 0 ? "" : ` by ${who.join(", ")}`;
  const where = fields.length === 0 ? "" : ` (${fields.join(", ")})`;
  return `${child} was ${what}${by}${where}`;
};

const lastApplied = (object: KubeObject): string =>
  object.metadata.managedFields?.find(
    ({ manager, operation }) => manager === fieldManagers.shape && operation === "Apply",
  )?.time ?? "";
