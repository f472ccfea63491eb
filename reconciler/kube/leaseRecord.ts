/** What a Lease says, and who may take it: decisions without I/O. */
import { microTime } from "./microTime.ts";
import type { Lease } from "./resource.ts";

export type LeaseSpec = NonNullable<Lease["spec"]>;

/** What this process knows of the lease. */
export interface Observation {
  /** As last read or written; undefined when there is none. */
  readonly lease: Lease | undefined;
  /** When the record was last seen to change, by the local monotonic clock. */
  readonly changedAt: number;
}

/**
 * Follows the record: only a change of it proves that its holder lives. Times in it are another machine's, and are never
 * compared.
 */
export const observe = (before: Observation | undefined, lease: Lease | undefined, now: number): Observation => ({
  lease,
  changedAt: before !== undefined && sameRecord(before.lease, lease) ? before.changedAt : now,
});

const sameRecord = (a: Lease | undefined, b: Lease | undefined): boolean =>
  a?.metadata.uid === b?.metadata.uid &&
  a?.spec?.holderIdentity === b?.spec?.holderIdentity &&
  a?.spec?.renewTime === b?.spec?.renewTime &&
  a?.spec?.acquireTime === b?.spec?.acquireTime &&
  a?.spec?.leaseDurationSeconds === b?.spec?.leaseDurationSeconds &&
  a?.spec?.leaseTransitions === b?.spec?.leaseTransitions;

/** Whether `identity` may write itself in: the lease is free, its own, or was not renewed for its whole duration. */
export const mayTake = (
  { lease, changedAt }: Observation,
  identity: string,
  durationMs: number,
  now: number,
): boolean => {
  const holder = lease?.spec?.holderIdentity ?? "";
  if (holder === "" || holder === identity) return true;
  // The holder's own duration counts too: it may have been started with a longer one.
  const theirs = (lease?.spec?.leaseDurationSeconds ?? 0) * 1000;
  return now - changedAt > Math.max(durationMs, theirs);
};

/** The record with `identity` as its holder, now. */
export const held = (before: LeaseSpec | undefined, identity: string, durationMs: number, wall: Date): LeaseSpec => {
  const same = before?.holderIdentity === identity;
  const time = microTime(wall);
  const transitions = before?.leaseTransitions ?? 0;
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: Math.max(1, Math.ceil(durationMs / 1000)),
    acquireTime: same ? (before.acquireTime ?? time) : time,
    renewTime: time,
    leaseTransitions: before === undefined || same ? transitions : transitions + 1,
  };
};

/** The record after its holder left: free at once, for anyone. */
export const released = (before: LeaseSpec, wall: Date): LeaseSpec => ({
  ...before,
  holderIdentity: "",
  leaseDurationSeconds: 1,
  renewTime: microTime(wall),
  acquireTime: microTime(wall),
});
