import type { types } from "@pulumi/kubernetes";
import { platformMetadata } from "./metadata.ts";

/** A namespace that admits only pods of the security level `restricted`. */
export const restrictedNamespace = (name: string): types.input.core.v1.Namespace => {
  const metadata = platformMetadata(name);
  return {
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/enforce-version": "latest",
        "pod-security.kubernetes.io/warn": "restricted",
      },
    },
  };
};
