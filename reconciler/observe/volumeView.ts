import type { PersistentVolumeClaim, StorageClass } from "../kube/index.ts";
import type { PendingVolume } from "./snapshot.ts";

const defaultClass = "storageclass.kubernetes.io/is-default-class";

/** The claims that have no volume yet, and whether the class that is to provide it exists. */
export function viewPendingVolumes(
  claims: readonly PersistentVolumeClaim[],
  classes: readonly StorageClass[],
): readonly PendingVolume[] {
  return claims
    .filter(({ status }) => status?.phase === "Pending")
    .map(({ metadata, spec }) => {
      const storageClass = spec?.storageClassName;
      const classExists =
        storageClass === undefined
          ? classes.some((candidate) => candidate.metadata.annotations?.[defaultClass] === "true")
          : // An empty name asks for a volume that exists already, and not for a class.
            storageClass === "" || classes.some((candidate) => candidate.metadata.name === storageClass);
      return { claim: metadata.name, storageClass, classExists };
    })
    .sort((a, b) => a.claim.localeCompare(b.claim));
}
