/** Reads the volumes of an engine off its children. */
import { childNames, fieldManagers } from "../../api/names.ts";
import {
  type KubeObject,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  type StatefulSet,
  statefulSets,
} from "../kube/index.ts";
import type { Child } from "./childWatch.ts";
import { ownFields } from "./ownFields.ts";
import type { ObservedClaim, VolumeShape } from "./volumePlan.ts";

export interface ObservedVolumes {
  readonly claims: readonly ObservedClaim[];
  /** What the StatefulSet makes claims from; `undefined` without a StatefulSet. */
  readonly template: VolumeShape | undefined;
}

export const observedVolumes = (engine: string, children: readonly Child[]): ObservedVolumes => {
  const set = children.find(
    ({ resource, object }) => resource === statefulSets && object.metadata.name === childNames(engine).statefulSet,
  );
  const template = set === undefined ? undefined : templateOf(set.object as StatefulSet);
  const claims = children
    .filter(({ resource }) => resource === persistentVolumeClaims)
    .flatMap(({ object }) => claimOf(engine, object as PersistentVolumeClaim, template));
  return { claims, template };
};

/** Which replica of the engine a claim belongs to, by its name; `undefined` for other claims. */
export const ordinalOfClaim = (engine: string, claim: string): number | undefined => {
  const ordinal = Number(/-(0|[1-9][0-9]*)$/.exec(claim)?.[1] ?? Number.NaN);
  return claim === childNames(engine).volume(ordinal) ? ordinal : undefined;
};

const templateOf = (set: StatefulSet): VolumeShape | undefined => {
  const spec = set.spec?.volumeClaimTemplates?.[0]?.spec;
  return spec === undefined ? undefined : shapeOf(spec.storageClassName, spec.resources?.requests?.["storage"]);
};

/** None for a claim that is no replica's. */
const claimOf = (
  engine: string,
  claim: PersistentVolumeClaim,
  template: VolumeShape | undefined,
): readonly ObservedClaim[] => {
  const { name, uid } = claim.metadata;
  const ordinal = ordinalOfClaim(engine, name);
  if (ordinal === undefined) return [];
  return [
    {
      ordinal,
      name,
      uid,
      bound: claim.spec?.volumeName !== undefined,
      classIsOurs: asksForClass(claim, template),
      ...shapeOf(claim.spec?.storageClassName, claim.spec?.resources?.requests?.["storage"]),
    },
  ];
};

/** The class that a claim got by default stands in the same field as one that was asked for. */
const asksForClass = (claim: KubeObject, template: VolumeShape | undefined): boolean => {
  const own = ownFields(claim, fieldManagers.shape) as { readonly spec?: VolumeShape } | undefined;
  // Made by the StatefulSet controller, so from the template.
  if (own === undefined) return template?.storageClassName !== undefined;
  return own.spec?.storageClassName !== undefined;
};

const shapeOf = (storageClassName: string | undefined, size = "0"): VolumeShape =>
  storageClassName === undefined ? { size } : { storageClassName, size };
