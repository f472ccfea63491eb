import type { ElectionCause } from "../decide/index.ts";

/** Whether a living primary hands over, or a dead one is replaced; Events and metrics differ. */
export type ElectionKind = "first" | "failover" | "switchover";

export function kindOf(cause: ElectionCause): ElectionKind {
  switch (cause) {
    case "Bootstrap":
      return "first";
    case "PodDeleted":
    case "ContainerTerminated":
    case "ProcessExited":
    case "ProcessRestarted":
    case "Silent":
    case "WriteStalled":
    case "Resumed":
      return "failover";
    case "Requested":
    case "PodLeaving":
    case "Rollout":
      return "switchover";
  }
}

/** The cause as the end of a sentence that begins with the old primary's name. */
export function describeCause(cause: ElectionCause): string {
  switch (cause) {
    case "Bootstrap":
      return "there was no primary yet";
    case "PodDeleted":
      return "its pod was deleted";
    case "ContainerTerminated":
      return "its container ended";
    case "ProcessExited":
      return "its process went away: the connections to the reconciler and to the standbys broke";
    case "ProcessRestarted":
      return "its process started anew";
    case "Silent":
      return "neither the reconciler nor the standbys heard it for the detection time";
    case "WriteStalled":
      return "its write path made no progress";
    case "Resumed":
      return "an election was left half-done";
    case "Requested":
      return "a person asked for it";
    case "PodLeaving":
      return "its pod or its node is being taken away";
    case "Rollout":
      return "its pod is to be replaced by an updated one";
  }
}
