/** Waits for what another part of the same process brings about. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

/** So many turns of the event loop come before the first wait: most things happen within them. */
const eagerTurns = 100;

/** Resolves once `condition` holds; throws with `what` when it does not within ten seconds of real time. */
export const until = async (what: string, condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 10_000;
  for (let turn = 0; !condition(); turn++) {
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await (turn < eagerTurns ? nextTurn() : sleep(1));
  }
};
