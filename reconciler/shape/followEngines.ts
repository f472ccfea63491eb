import type { Change, Informer, NamespacedObject } from "../kube/index.ts";
import { objectKey } from "../kube/index.ts";
import type { EngineKey, ShapeReason } from "./shapeResult.ts";

/** A TradingEngine as far as its informer is relied on: what clients wrote is checked where it is used. */
type WatchedEngine = NamespacedObject & { readonly status?: { readonly epoch?: unknown } };

/** Why a change of a TradingEngine concerns its shape; `undefined` when it does not, as of status but for the epoch. */
export const reasonOf = (change: Change<WatchedEngine>): ShapeReason | undefined => {
  switch (change.type) {
    case "added":
      return change.initial ? "Resync" : "Created";
    case "updated": {
      const { old, object } = change;
      if (old === object) return "Resync";
      if (object.metadata.deletionTimestamp !== undefined) return "Deleted";
      if (old.metadata.generation !== object.metadata.generation) return "SpecChanged";
      return old.status?.epoch === object.status?.epoch ? undefined : "Failover";
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
