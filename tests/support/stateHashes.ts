import type { EngineStatus } from "../../api/contract/v1.ts";
import { waitFor } from "./waitFor.ts";

/** The state of every replica at one sequence number. */
export interface StateComparison {
  readonly seq: number;
  readonly hashes: Readonly<Record<string, string>>;
  /** All hashes are the same. */
  readonly agree: boolean;
}

/** Waits until no order is under way between the replicas, then compares their states. */
export async function compareStates(
  instances: readonly string[],
  status: (instance: string) => Promise<Pick<EngineStatus, "lastHash">>,
  deadlineMs: number,
): Promise<StateComparison> {
  const states = await waitFor({
    what: "every replica to have applied the same records",
    deadlineMs,
    look: async () =>
      Promise.all(instances.map(async (instance) => ({ instance, ...(await status(instance)).lastHash }))),
    until: (seen) => new Set(seen.map(({ seq }) => seq)).size === 1,
  });
  return {
    seq: states[0]?.seq ?? 0,
    hashes: Object.fromEntries(states.map(({ instance, hash }) => [instance, hash])),
    agree: new Set(states.map(({ hash }) => hash)).size === 1,
  };
}
