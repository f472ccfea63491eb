import type { Drain } from "../decide/index.ts";
import type { ActWorld } from "./ports.ts";

/**
 * Has every order confirmed only when all standbys in sync hold it, so that each of them can come next. Orders are
 * still taken meanwhile.
 * @throws when that cannot be had in time: nothing was disturbed then.
 */
export async function prepareDrain({ primary, epoch, rule, version }: Drain, { calls }: ActWorld): Promise<void> {
  await calls.setMembers(primary, epoch, version, rule);
}

/**
 * Asks the primary to stop taking orders and to finish what it has. A failure ends nothing: the fence that follows
 * stops it as well, and the candidate is chosen by what the replicas hold.
 */
export async function drainPrimary({ primary, epoch }: Drain, { calls }: ActWorld): Promise<void> {
  try {
    await calls.demote(primary, epoch);
  } catch {
    // Not drained, or not known to be: see above.
  }
}
