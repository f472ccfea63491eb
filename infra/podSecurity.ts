import type { types } from "@pulumi/kubernetes";

/** User and group of every image of this product; files on volumes belong to it. */
const nonRoot = 65532;

/** Pod part of what the pod security level `restricted` asks for. */
export const restrictedPod = (): types.input.core.v1.PodSecurityContext => ({
  runAsNonRoot: true,
  runAsUser: nonRoot,
  runAsGroup: nonRoot,
  fsGroup: nonRoot,
  // Changing the owner of every file of a large journal would delay each start of a replica.
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
});

/** Container part of what the pod security level `restricted` asks for, and a root file system that cannot be written. */
export const restrictedContainer = (): types.input.core.v1.SecurityContext => ({
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  capabilities: { drop: ["ALL"] },
});
