import type { ElectionPlan } from "../decide/index.ts";
import type { ActWorld } from "./ports.ts";

const catchUpMs = 150;
const pollMs = 3;

/**
 * Asks a living primary to stop taking orders and to finish what it has, then gives the preferred successor a moment
 * to hold all of it. A failure ends nothing: the fence that follows stops the primary as well, and the candidate is
 * chosen by what the replicas hold.
 */
export async function drainPrimary(plan: ElectionPlan, primary: string, { calls, clock }: ActWorld): Promise<void> {
  const from = plan.participants.find(({ name }) => name === primary);
  const to = plan.participants.find(({ name }) => name === plan.prefer);
  if (from === undefined) return;
  try {
    const { final } = await calls.demote(from, plan.epoch - 1);
    if (to === undefined) return;
    const deadline = clock.now() + catchUpMs;
    while (clock.now() < deadline) {
      const { durable } = await calls.status(to);
      if (durable.seq >= final.seq) return;
      await clock.sleep(pollMs);
    }
  } catch {
    // Not drained, or not known to be: see above.
  }
}
