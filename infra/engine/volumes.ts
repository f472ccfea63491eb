import type { types } from "@pulumi/kubernetes";
import { childNames } from "../../api/names.ts";
import type { Engine, VolumeShape } from "./engine.ts";
import { engineLabels, survivorMetadata } from "./metadata.ts";

type ClaimSpec = types.input.core.v1.PersistentVolumeClaimSpec;

/** Name of the volume in the pod template; the StatefulSet controller derives the claims' names from it. */
export const volumeName = "data";

/**
 * Fields of a claim that cannot be changed in place. Pulumi would change them by deleting the
 * claim, and with it a journal; they stay what they were when the claim was made.
 */
export const fixedClaimFields: readonly string[] = ["spec.storageClassName", "spec.accessModes"];

const wanted = (engine: Engine): VolumeShape => ({
  storageClassName: engine.spec.storageClassName,
  size: engine.spec.storage.size,
});

const claimSpec = ({ storageClassName, size }: VolumeShape): ClaimSpec => ({
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: size } },
  ...(storageClassName === undefined ? {} : { storageClassName }),
});

/**
 * The volume of replica `ordinal`: an object of its own, so that it can grow and outlive the
 * StatefulSet, under the name by which the StatefulSet controller takes it as already made.
 */
export const volumeClaim = (engine: Engine, ordinal: number): types.input.core.v1.PersistentVolumeClaim => ({
  metadata: survivorMetadata(engine, childNames(engine.name).volume(ordinal)),
  spec: claimSpec(engine.existingVolumes[ordinal] ?? wanted(engine)),
});

/** What the StatefulSet controller makes a claim from if somebody deletes one together with its pod. */
export const volumeClaimTemplate = (engine: Engine): types.input.core.v1.PersistentVolumeClaim => ({
  metadata: { name: volumeName, labels: engineLabels(engine) },
  spec: claimSpec(engine.existingVolumeTemplate ?? wanted(engine)),
});
