import type { Pod } from "../../reconciler/kube/index.ts";

/** Ready, and nobody has asked for its deletion. */
export const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false);

/** Still the same process: a killed one comes back as another container, of the same pod or of another. */
export const isSameContainer = (pod: Pod, before: Pod): boolean =>
  pod.metadata.uid === before.metadata.uid && containerIds(pod).some((id) => containerIds(before).includes(id));

const containerIds = ({ status }: Pod): readonly string[] =>
  status?.containerStatuses?.flatMap(({ containerID }) => containerID ?? []) ?? [];
