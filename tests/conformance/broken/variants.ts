import { brokenControl } from "./brokenControl.ts";
import { brokenHistory } from "./brokenHistory.ts";
import { brokenOrders } from "./brokenOrders.ts";
import { brokenProcess } from "./brokenProcess.ts";
import { brokenReports } from "./brokenReports.ts";
import type { Doctor } from "./doctor.ts";

/** An engine that breaks a promise, and the rules that must notice. */
export interface BrokenVariant {
  readonly name: string;
  /** Ids of the rules that it fails, and what each of them sees: a rule that fails for another reason proves nothing. */
  readonly fails: Readonly<Record<string, RegExp>>;
  /** What it does wrong. */
  readonly does: string;
  readonly doctor: () => Doctor;
}

/** The sound engine behind the same ports: what the variants do is what makes them fail. */
const sound: BrokenVariant = { name: "sound", fails: {}, does: "nothing wrong", doctor: () => ({}) };

export const brokenVariants: readonly BrokenVariant[] = [
  sound,
  ...brokenControl,
  ...brokenHistory,
  ...brokenOrders,
  ...brokenReports,
  ...brokenProcess,
];
