/** Waits for what another part of the same process brings about. */
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves once `condition` holds; throws with `what` when it does not within ten seconds of real time. */
export const until = async (what: string, condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await sleep(1);
  }
};
