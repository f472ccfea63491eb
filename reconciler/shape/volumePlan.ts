/**
 * Which volumes keep a shape of their own. A volume in use keeps its class for life and never shrinks, whatever the spec
 * says; one that was never provided can be made anew, which is how an engine with a wrong class or size is corrected.
 */
import { quantityValue } from "../../api/schema/quantity.ts";
import type { TradingEngineSpec } from "../../api/tradingEngine/index.ts";

/** Class and size of a volume. */
export interface VolumeShape {
  /** Absent = the cluster's default class. */
  readonly storageClassName?: string;
  /** A Kubernetes quantity. */
  readonly size: string;
}

/** A replica's claim as it is. */
export interface ObservedClaim extends VolumeShape {
  readonly ordinal: number;
  readonly name: string;
  readonly uid: string;
  /** A volume is, or was, behind it. */
  readonly bound: boolean;
  /** The class was asked for by us; else it is the default that the cluster filled in. */
  readonly classIsOurs: boolean;
}

export interface VolumePlan {
  /** By ordinal; only where the volume differs from what the spec says. */
  readonly volumes: Readonly<Record<number, VolumeShape>>;
  /** Likewise for the claim template of the StatefulSet, which cannot be changed in place. */
  readonly volumeTemplate?: VolumeShape;
  /** Claims that hold nothing and can never be as the spec wants: to be deleted before the run. */
  readonly obsolete: readonly ObservedClaim[];
  /**
   * The StatefulSet must be made anew too, its pods left alone: from its claim template its controller would make each
   * obsolete claim again, as wrong as before, faster than a run could make the right one.
   */
  readonly obsoleteTemplate?: true;
}

/** @param template What the live StatefulSet makes claims from; `undefined` when there is none. */
export const planVolumes = (
  spec: Pick<TradingEngineSpec, "storageClassName" | "storage" | "replicas">,
  claims: readonly ObservedClaim[],
  template: VolumeShape | undefined,
): VolumePlan => {
  const wanted = shape(spec.storageClassName, spec.storage.size);
  const volumes: Record<number, VolumeShape> = {};
  for (const claim of claims) {
    if (!claim.bound || claim.ordinal >= spec.replicas) continue;
    const kept = keptShape(wanted, claim);
    if (kept !== undefined) volumes[claim.ordinal] = kept;
  }
  const obsolete = claims.filter((claim) => !claim.bound && claim.ordinal < spec.replicas && !claimIsAs(wanted, claim));
  return { volumes, obsolete, ...planTemplate(wanted, template, obsolete) };
};

const planTemplate = (
  wanted: VolumeShape,
  template: VolumeShape | undefined,
  obsolete: readonly ObservedClaim[],
): Pick<VolumePlan, "volumeTemplate" | "obsoleteTemplate"> => {
  if (template === undefined || isAs(wanted, template)) return {};
  return obsolete.length > 0 ? { obsoleteTemplate: true } : { volumeTemplate: template };
};

/** A bound claim takes the larger size and its own class; `undefined` when that is what the spec says anyway. */
const keptShape = (wanted: VolumeShape, claim: ObservedClaim): VolumeShape | undefined => {
  const otherClass = wanted.storageClassName !== undefined && wanted.storageClassName !== claim.storageClassName;
  const larger = quantityValue(claim.size) > quantityValue(wanted.size);
  if (!otherClass && !larger) return undefined;
  return shape(otherClass ? claim.storageClassName : wanted.storageClassName, larger ? claim.size : wanted.size);
};

const claimIsAs = (wanted: VolumeShape, claim: ObservedClaim): boolean => {
  const gotByDefault = wanted.storageClassName === undefined && !claim.classIsOurs;
  return isAs(wanted, shape(gotByDefault ? undefined : claim.storageClassName, claim.size));
};

const isAs = (wanted: VolumeShape, actual: VolumeShape): boolean =>
  wanted.storageClassName === actual.storageClassName && quantityValue(wanted.size) === quantityValue(actual.size);

const shape = (storageClassName: string | undefined, size: string): VolumeShape =>
  storageClassName === undefined ? { size } : { storageClassName, size };
