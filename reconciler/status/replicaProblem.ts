/** What keeps a single replica from running, in words that stay the same while the problem does. */
import type { ConditionReason } from "../../api/tradingEngine/index.ts";
import type { EngineSnapshot, LastExit, PodView, ReplicaView } from "../observe/snapshot.ts";
import { meaningOfExit } from "./exitMeaning.ts";

export interface ReplicaProblem {
  readonly replica: string;
  readonly reason: Extract<
    ConditionReason,
    "ImagePullFailed" | "Unschedulable" | "StorageClassNotFound" | "ConfigRejected" | "DiskFull" | "CrashLooping"
  >;
  readonly message: string;
}

/** The kubelet alternates between these while it retries. */
const pullFailures: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "RegistryUnavailable",
]);

/** Exits that no restart can help, so that the first one tells. */
const lastingExits: ReadonlySet<number> = new Set([64, 70, 71, 76, 77, 78, 79]);

/** An ordinary crash is restarted and forgotten; from so many on it is a loop. */
const restartsOfALoop = 3;

/** Every replica's problem, by ordinal; empty when all run or are on their way. */
export const findProblems = (snapshot: EngineSnapshot): readonly ReplicaProblem[] =>
  snapshot.replicas.flatMap((replica) => {
    const problem = problemOf(snapshot, replica);
    return problem === undefined ? [] : [{ replica: replica.name, ...problem }];
  });

type Problem = Omit<ReplicaProblem, "replica">;

function problemOf(snapshot: EngineSnapshot, { name, pod }: ReplicaView): Problem | undefined {
  const volume = snapshot.pendingVolumes.find(({ claim }) => claim.endsWith(`-${name}`));
  if (volume?.classExists === false)
    return {
      reason: "StorageClassNotFound",
      message:
        volume.storageClass === undefined
          ? "the cluster has no default StorageClass: name one in spec.storageClassName"
          : `the StorageClass ${volume.storageClass} does not exist: correct spec.storageClassName, or create it`,
    };
  if (pod === undefined || pod.terminating) return undefined;
  if (pod.unschedulable !== undefined)
    return { reason: "Unschedulable", message: `no node takes the pod: ${pod.unschedulable}` };
  if (pod.container.kind === "waiting" && pullFailures.has(pod.container.reason))
    return { reason: "ImagePullFailed", message: `the image ${pod.image ?? ""} cannot be pulled: correct spec.image` };
  return problemOfExit(pod);
}

function problemOfExit(pod: PodView): Problem | undefined {
  const exit = exitOf(pod);
  if (exit === undefined || pod.ready) return undefined;
  const isLoop =
    pod.restarts >= restartsOfALoop ||
    lastingExits.has(exit.exitCode) ||
    (pod.container.kind === "waiting" && pod.container.reason === "CrashLoopBackOff");
  if (!isLoop) return undefined;
  const meaning = meaningOfExit(exit.exitCode);
  const said = exit.message.trim();
  const message = [
    `the engine ends with exit code ${exit.exitCode}`,
    ...(meaning === undefined ? [] : [meaning]),
    ...(said === "" ? [] : [said.slice(0, 300)]),
  ].join(": ");
  if (exit.exitCode === 64) return { reason: "ConfigRejected", message };
  return { reason: exit.exitCode === 71 ? "DiskFull" : "CrashLooping", message };
}

const exitOf = ({ container, lastExit }: PodView): LastExit | undefined =>
  container.kind === "terminated" ? container : lastExit;
