import type { CommitRule, EngineSnapshot } from "../observe/snapshot.ts";
import { participantsOf } from "./participants.ts";
import type { GrantStep } from "./plan.ts";
import type { PrimaryVerdict } from "./verdict.ts";

/**
 * How long a grant lasts. Long enough that the next leader of the reconciler takes over before it ends, since that must
 * stop no trading; whoever makes another replica primary by force has to wait for as long.
 */
export const grantMs = 30_000;

/** No standby stands in the way of this primary, and another replica could be made one. */
export const needsGrant = ({ k, members }: CommitRule): boolean => k === 0 && members.length > 1;

/** The grant that the primary is due, by the rule that it says it runs with; asked for anew in every pass. */
export function grantFor(snapshot: EngineSnapshot, verdict: PrimaryVerdict, now: number): GrantStep | undefined {
  if (verdict.kind !== "leading" && verdict.kind !== "leaving") return undefined;
  const { name, status } = verdict;
  if (status.sync === null) return undefined;
  const members = [name, ...status.sync.members.map(({ instance }) => instance)];
  if (!needsGrant({ k: status.sync.k, members })) return undefined;
  const replica = participantsOf(snapshot, now).find((participant) => participant.name === name);
  return replica === undefined ? undefined : { replica, epoch: status.epoch.current, ttlMs: grantMs };
}
