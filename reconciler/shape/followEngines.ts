import type { Change, Informer, NamespacedObject } from "../kube/index.ts";
import { objectKey } from "../kube/index.ts";
import type { EngineKey, ShapeReason } from "./shapeResult.ts";

/** Why a change of a TradingEngine concerns its shape; `undefined` when it does not, as all changes of status. */
export const reasonOf = (change: Change<NamespacedObject>): ShapeReason | undefined => {
  switch (change.type) {
    case "added":
      return change.initial ? "Resync" : "Created";
    case "updated": {
      const { old, object } = change;
      if (old === object) return "Resync";
      if (object.metadata.deletionTimestamp !== undefined) return "Deleted";
      return old.metadata.generation === object.metadata.generation ? undefined : "SpecChanged";
    }
    case "deleted":
      return "Deleted";
  }
};

/** Has `request` called for each change of an engine that may need a run. Returns the way to end it. */
export const followEngines = (
  engines: Pick<Informer<NamespacedObject>, "onChange">,
  request: (key: EngineKey, reason: ShapeReason) => void,
): (() => void) =>
  engines.onChange((change) => {
    const reason = reasonOf(change);
    if (reason !== undefined) request(objectKey(change.object), reason);
  });
