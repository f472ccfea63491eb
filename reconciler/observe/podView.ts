import { labels } from "../../api/names.ts";
import type { Node, Pod } from "../kube/index.ts";
import type { ContainerState, LastExit, PodView } from "./snapshot.ts";

/** Set by the StatefulSet controller: the template that a pod was made from. */
const revisionLabel = "controller-revision-hash";
/** The container of the engine itself; a sidecar's end is not the engine's. */
const engineContainer = "engine";

/**
 * What matters of a pod.
 * @param updateRevision the StatefulSet's newest revision; undefined while its controller has not settled it.
 * @param node the pod's node, when it is known.
 */
export function viewPod(pod: Pod, updateRevision: string | undefined, node: Node | undefined): PodView {
  const { metadata, spec, status } = pod;
  const containers = status?.containerStatuses ?? [];
  const container = containers.find(({ name }) => name === engineContainer) ?? containers[0];
  const revision = metadata.labels?.[revisionLabel];
  const conditions = status?.conditions ?? [];
  const scheduling = conditions.find(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable");
  return {
    name: metadata.name,
    uid: metadata.uid,
    ip: status?.podIP === "" ? undefined : status?.podIP,
    node: spec?.nodeName,
    phase: status?.phase ?? "Unknown",
    terminating: metadata.deletionTimestamp !== undefined,
    ready: conditions.some(({ type, status: value }) => type === "Ready" && value === "True"),
    role: metadata.labels?.[labels.role],
    image: (spec?.containers.find(({ name }) => name === engineContainer) ?? spec?.containers[0])?.image,
    outdated: updateRevision !== undefined && revision !== undefined && revision !== updateRevision,
    container: stateOf(container?.state),
    lastExit: lastExitOf(container?.lastState?.terminated),
    restarts: container?.restartCount ?? 0,
    unschedulable: scheduling?.status === "False" ? (scheduling.message ?? "no node takes it") : undefined,
    nodeSchedulable: node?.spec?.unschedulable !== true,
  };
}

type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];
type Terminated = NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>;

function stateOf(state: ContainerStatus["state"]): ContainerState {
  if (state?.terminated !== undefined) return { kind: "terminated", ...exitOf(state.terminated) };
  if (state?.running !== undefined) return { kind: "running" };
  if (state?.waiting === undefined) return { kind: "unknown" };
  return { kind: "waiting", reason: state.waiting.reason ?? "Waiting", message: state.waiting.message ?? "" };
}

const exitOf = ({ exitCode, reason, message }: Terminated): LastExit => ({
  exitCode,
  reason: reason ?? "",
  message: message ?? "",
});

const lastExitOf = (terminated: Terminated | undefined): LastExit | undefined =>
  terminated === undefined ? undefined : exitOf(terminated);
