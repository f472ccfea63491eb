import { labels, labelValues } from "../../api/names.ts";

/** Object metadata as plain data, so that callers can add to it. */
interface PlatformMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

/** Name of the daemon and of most objects around it. */
export const operatorName = "enginekeeper";

/** Labels by which the daemon's pods are found; they never change. */
export const operatorSelector = { [labels.name]: operatorName } as const;

/** Labels of everything that the platform program installs. */
export const platformLabels = {
  ...operatorSelector,
  [labels.partOf]: labelValues.partOf,
  [labels.managedBy]: "pulumi",
} as const;

/**
 * One field manager for ever: installing again after the stack's state was lost adopts what is
 * there. Force: these objects belong to this program.
 */
const providerAnnotations = {
  "pulumi.com/patchFieldManager": "enginekeeper-platform",
  "pulumi.com/patchForce": "true",
} as const;

/** Metadata of an object of the platform; without `namespace`, of one outside namespaces. */
export const platformMetadata = (name: string, namespace?: string): PlatformMetadata => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  labels: { ...platformLabels },
  annotations: { ...providerAnnotations },
});
