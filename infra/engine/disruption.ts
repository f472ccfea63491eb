import type { types } from "@pulumi/kubernetes";
import { childNames } from "../../api/names.ts";
import type { Engine } from "./engine.ts";
import { childMetadata, podSelector } from "./metadata.ts";

/**
 * How many replicas may be evicted at a time: one, if the engine still acknowledges orders
 * with one replica fewer; else none, because the eviction would stop trading (a drain of the
 * node then waits until a person adds a replica or accepts the stop).
 */
export const evictableReplicas = (engine: Engine): 0 | 1 => {
  const { replicas, failoverStrategy } = engine.spec;
  if (failoverStrategy.durability === "Available") return replicas > 1 ? 1 : 0;
  const standbys = replicas - 1;
  return standbys - 1 >= failoverStrategy.syncStandbys ? 1 : 0;
};

export const disruptionBudget = (engine: Engine): types.input.policy.v1.PodDisruptionBudget => ({
  metadata: childMetadata(engine, childNames(engine.name).disruptionBudget),
  spec: {
    maxUnavailable: evictableReplicas(engine),
    // A replica that is not ready may hold the only other copy of an order: it counts as one lost.
    unhealthyPodEvictionPolicy: "IfHealthyBudget",
    selector: { matchLabels: podSelector(engine) },
  },
});
