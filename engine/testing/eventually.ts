import { setTimeout as sleep } from "node:timers/promises";

/** Resolves once `holds` does; fails with `what` after a time that is long enough for a loaded machine. */
export const eventually = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
  const end = Date.now() + 10_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
    await sleep(5);
  }
};
