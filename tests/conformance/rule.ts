import type { Lab } from "./lab.ts";

/** What an engine says it can do beyond what every engine must, see `capabilities` in its status. */
export type Capability = "grant" | "place";

/** One promise of the engine contract, and how a black box is seen to keep it in a laboratory `L`. */
export interface Rule<L = Lab> {
  /** Stable: reports and issues refer to it. */
  readonly id: string;
  /** What must hold, as one sentence. */
  readonly title: string;
  /** The loss that this prevents. */
  readonly prevents: string;
  /** Without these the rule is not applicable. */
  readonly needs?: readonly Capability[];
  /** Answers what was seen. Throws a Violation when the rule is broken; any other error is a fault of the kit or of its host. */
  check(lab: L): Promise<string>;
}
