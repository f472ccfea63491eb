import type { types } from "@pulumi/kubernetes";
import { apiVersion, fieldManagers, labels, labelValues, tradingEngineKind } from "../../api/names.ts";
import type { Engine } from "./engine.ts";

type ObjectMeta = types.input.meta.v1.ObjectMeta;

/** Labels by which Services, budgets and policies find the pods of an engine. They never change: selectors cannot. */
export const podSelector = (engine: Engine): Record<string, string> => ({
  [labels.name]: labelValues.name,
  [labels.instance]: engine.name,
  [labels.engine]: engine.name,
});

/** Labels of every object of an engine. */
export const engineLabels = (engine: Engine): Record<string, string> => ({
  ...podSelector(engine),
  [labels.managedBy]: labelValues.managedBy,
  [labels.partOf]: labelValues.partOf,
});

/**
 * How the Kubernetes provider treats the objects of an engine.
 * - One field manager for ever: after a lost state, `up` adopts the objects without conflicts.
 * - Force: the engine's fields belong to the component; hand-made changes to them are drift.
 * - No waiting: readiness is the reconciler's to judge, and waiting for it would hold `up`
 *   for minutes in the middle of a failover.
 */
const providerAnnotations = {
  "pulumi.com/patchFieldManager": fieldManagers.shape,
  "pulumi.com/patchForce": "true",
  "pulumi.com/skipAwait": "true",
} as const;

const ownerReferences = (engine: Engine): Pick<ObjectMeta, "ownerReferences"> =>
  engine.owner === undefined
    ? {}
    : {
        ownerReferences: [
          {
            apiVersion,
            kind: tradingEngineKind,
            name: engine.owner.name,
            uid: engine.owner.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      };

/** Metadata of a child that goes when its TradingEngine goes. */
export const childMetadata = (engine: Engine, name: string): ObjectMeta => ({
  ...survivorMetadata(engine, name),
  ...ownerReferences(engine),
});

/**
 * Metadata of a child that outlives its TradingEngine. Without an owner the garbage
 * collector leaves it alone, also when somebody deletes the TradingEngine by force or
 * restores it under another UID.
 */
export const survivorMetadata = (engine: Engine, name: string): ObjectMeta => ({
  name,
  namespace: engine.namespace,
  labels: engineLabels(engine),
  annotations: { ...providerAnnotations },
});
