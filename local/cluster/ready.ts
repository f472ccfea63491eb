/** Waiting, with a deadline, and a message that says what was waited for and what was seen last. */
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Calls `probe` until it answers null (ready); anything else it answers is what is still missing.
 * @throws Error at the deadline, with the last answer.
 */
export const waitReady = async (
  what: string,
  deadlineMs: number,
  probe: () => Promise<string | null>,
  pollMs = 100,
): Promise<void> => {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const missing = await probe().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (missing === null) return;
    if (Date.now() > deadline)
      throw new Error(`${what} not ready after ${Math.round(deadlineMs / 1000)} s: ${missing}`);
    await sleep(pollMs);
  }
};
