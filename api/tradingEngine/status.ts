/**
 * What is true of an engine, as the reconciler saw it last. No figure that moves with
 * every order is here (positions, lag, depth): those are metrics.
 */
import { z } from "zod";
import { atomic } from "../schema/atomic.ts";
import { condition } from "./conditions.ts";

const name = z.string().max(253);
const instant = z.iso.datetime({ offset: true });
const milliseconds = z.int().min(0);

export const enginePhase = z.enum([
  "Pending",
  "Trading",
  "Degraded",
  "FailingOver",
  "Updating",
  "Blocked",
  "Paused",
  "Hibernated",
  "Deleting",
]);
/** One word for printing; programs read the conditions. */
export type EnginePhase = z.output<typeof enginePhase>;

const replica = z.strictObject({
  name: name.describe("Name of the pod."),
  role: z.enum(["Primary", "Standby", "Unknown"]).describe("Unknown = the replica does not answer."),
  ready: z.boolean().describe("Primary: accepts orders; standby: has caught up."),
  inSync: z.boolean().describe("Connected and caught up, so that an acknowledgement may count on it."),
  image: z.string().max(512).optional().describe("Image that it runs."),
  node: name.optional().describe("Node that it runs on."),
  message: z.string().max(1024).optional().describe("What keeps it from being ready, for people."),
});
export type ReplicaStatus = z.output<typeof replica>;

const endpoint = z
  .strictObject({
    orders: z.string().max(300).describe("Order entry at the primary, host:port."),
    feed: z.string().max(300).optional().describe("Market data at the standbys, host:port."),
  })
  .meta(atomic);

const rollout = z
  .strictObject({
    current: z.string().max(512).optional().describe("Image of the primary."),
    target: z.string().max(512).optional().describe("Image that the spec wants."),
    progress: z.string().max(32).optional().describe("Replicas that run the target, such as 2/3."),
  })
  .meta(atomic);

const failoverPhases = z.strictObject({
  detectMs: milliseconds.describe("From the last sign of life, or the proof of death, to the decision."),
  lockMs: milliseconds.describe("To take the Lease for the new epoch."),
  fenceMs: milliseconds.describe("To collect enough promises."),
  promoteMs: milliseconds.describe("Until the new primary accepted its role."),
  routeMs: milliseconds.describe("Until the Service led to it."),
  totalMs: milliseconds.describe("From the first phase to the last."),
});
export type FailoverPhases = z.output<typeof failoverPhases>;

const lastFailover = z
  .strictObject({
    time: instant.describe("When the new primary was in place."),
    from: name.optional().describe("The old primary; absent at the first election."),
    to: name.describe("The new primary."),
    reason: z.string().max(64).describe("Why, as one word, such as ProcessExited."),
    epoch: z.int().min(1).describe("The epoch that began with it."),
    phases: failoverPhases
      .optional()
      .describe("How long each phase took; absent when another replica of the reconciler began it and was lost."),
  })
  .meta(atomic);
export type LastFailover = z.output<typeof lastFailover>;

const lastUpdate = z
  .strictObject({
    time: instant.describe("When it ended."),
    result: z.enum(["succeeded", "failed", "timedOut", "refused"]).describe("How it ended."),
    durationMs: milliseconds.describe("How long it ran."),
    changes: z
      .record(z.string().max(32), z.int())
      .meta({ maxProperties: 16, ...atomic })
      .optional()
      .describe("Number of resources by what was done to them, such as update: 1."),
    reason: z.string().max(64).describe("Why it ran, as one word, such as SpecChanged or Drift."),
    message: z.string().max(4096).optional().describe("What went wrong, for people."),
  })
  .meta(atomic);
/** The last `pulumi up` of the engine's stack. */
export type LastUpdate = z.output<typeof lastUpdate>;

export const tradingEngineStatus = z
  .strictObject({
    observedGeneration: z.int().min(0).optional().describe("The generation of the spec that was acted on last."),
    settledRollout: z
      .string()
      .max(256)
      .optional()
      .describe("Value of the annotation enginekeeper.dev/rollout that came with the spec which is fully in place."),
    phase: enginePhase.optional().describe("One word for printing; the conditions are the truth."),
    primary: name.optional().describe("Pod of the primary; empty or absent without one."),
    epoch: z.int().min(0).optional().describe("Counts the elections; 0 or absent before the first."),
    readyReplicas: z.int().min(0).optional().describe("Replicas that are ready."),
    inSyncReplicas: z.int().min(0).optional().describe("Standbys that an acknowledgement may count on."),
    readySummary: z.string().max(16).optional().describe("Ready of wanted replicas, such as 3/3, for printing."),
    syncSummary: z.string().max(16).optional().describe("Standbys in sync of wanted, such as 2/2, for printing."),
    replicas: z
      .array(replica)
      .max(16)
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] })
      .optional()
      .describe("Each replica, as it was seen last."),
    endpoint: endpoint.optional().describe("Where clients connect."),
    image: rollout.optional().describe("How far a new image has come."),
    lastFailover: lastFailover.optional().describe("The last change of the primary."),
    lastUpdate: lastUpdate.optional().describe("The last update of the engine's objects."),
    conditions: z
      .array(condition)
      .max(32)
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] })
      .optional()
      .describe("What is judged about the engine."),
  })
  .describe("What was seen.");

export type TradingEngineStatus = z.output<typeof tradingEngineStatus>;
