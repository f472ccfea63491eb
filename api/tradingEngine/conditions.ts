/**
 * The conditions of a TradingEngine: their types and reasons, as data for the code that
 * decides them and for the reference page.
 */
import { z } from "zod";

/** What each condition says while it is True, and whether True is good news. */
export const conditionTypes = {
  Ready: { polarity: "positive", meaning: "Orders are accepted and the loss of a replica can be survived." },
  PrimaryAvailable: { polarity: "positive", meaning: "A primary accepts orders." },
  Redundant: { polarity: "positive", meaning: "The loss of any one replica loses no order and keeps a successor." },
  ShapeSynced: { polarity: "positive", meaning: "The objects of the engine are as the spec wants them." },
  Progressing: { polarity: "positive", meaning: "A change is on its way to the replicas." },
  Paused: { polarity: "negative", meaning: "spec.paused is set: nothing is changed or repaired." },
  ControlPathDegraded: {
    polarity: "negative",
    meaning: "The reconciler cannot hear a replica that other replicas can hear.",
  },
  PromotionBlocked: { polarity: "negative", meaning: "There is no primary, and none can be elected without a risk." },
  PoisonOrder: { polarity: "negative", meaning: "The same record stopped several replicas; they are not restarted." },
  DiskPressure: { polarity: "negative", meaning: "A replica has little or no space left for its journal." },
} as const satisfies Readonly<Record<string, { polarity: "positive" | "negative"; meaning: string }>>;

export type ConditionType = keyof typeof conditionTypes;

/** Why a condition is as it is. */
export const conditionReasons = {
  // Trading and election
  Trading: "The primary accepts orders.",
  Bootstrapping: "The first primary has not been elected yet.",
  Electing: "A new primary is being elected.",
  NoPrimary: "No replica is primary.",
  PrimaryUnreachable: "The primary does not answer.",
  PrimaryStalled: "The primary is alive but its write path makes no progress.",
  CannotCommit: "The primary has too few standbys in sync to acknowledge orders.",
  NotEnoughPromises: "Too few replicas answer to be sure that every acknowledged order is found.",
  NoCandidate: "No replica holds enough history to become primary.",
  ReplicaNotBlank: "A first election found history in a replica, or a wiped replica among full ones.",
  ManualFailover: "failoverStrategy.mode is Manual: a person must ask for the failover.",
  RecordStopsReplicas: "The same record stopped more than one replica.",
  DiskFull: "No space is left on a replica's volume.",
  // Redundancy
  StandbysInSync: "Enough standbys hold every acknowledged order.",
  StandbysMissing: "Too few standbys are in sync.",
  SingleReplica: "With one replica there is no standby.",
  // Shape
  UpSucceeded: "The last update went through.",
  UpRunning: "An update is running.",
  UpFailed: "The last update failed; it is tried again.",
  UpTimedOut: "The last update did not end in time; it is tried again.",
  UpRefused: "The update would replace the StatefulSet or a volume in use, so it was not run.",
  // Progress of replicas
  Complete: "Every replica runs what the spec wants.",
  Creating: "Replicas are being created.",
  Updating: "Replicas are being replaced by updated ones.",
  Repairing: "A lost replica is being rebuilt.",
  ImagePullFailed: "The image cannot be pulled; correct spec.image.",
  Unschedulable: "No node has room for a replica; correct spec.resources or add nodes.",
  StorageClassNotFound: "The StorageClass does not exist; correct spec.storageClassName.",
  ConfigRejected: "The engine refuses its configuration; correct spec.config.",
  CrashLooping: "A replica's process keeps ending.",
  // Wishes of people
  SpecPaused: "spec.paused is true.",
  Active: "Nothing holds the engine back.",
  Hibernated: "spec.hibernate is true.",
  Deleting: "The TradingEngine is being deleted.",
  // Health that is as it should be
  AllReachable: "Every replica can be heard.",
  ReplicaUnreachable: "A replica cannot be heard by the reconciler.",
  AsExpected: "Nothing is wrong.",
} as const;

export type ConditionReason = keyof typeof conditionReasons;

/** The standard condition of Kubernetes APIs. */
export const condition = z.strictObject({
  type: z.string().min(1).max(316).describe("What is judged."),
  status: z.enum(["True", "False", "Unknown"]).describe("The judgement."),
  reason: z.string().min(1).max(1024).describe("Why, as one word for programs."),
  message: z.string().max(32_768).describe("Why, for people."),
  lastTransitionTime: z.iso.datetime({ offset: true }).describe("When status changed last."),
  observedGeneration: z.int().min(0).optional().describe("The generation of the spec that was judged."),
});

export type Condition = z.output<typeof condition>;
