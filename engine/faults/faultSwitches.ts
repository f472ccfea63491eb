import type { Environment } from "../process/config.ts";
import { FatalError } from "../process/exit.ts";

/** What the test image is told to do wrong. Absent: nothing of that kind. */
export interface FaultSwitches {
  /** Syncs that still work; every later one fails with EIO. */
  readonly syncErrorAfter?: number;
  /** Syncs that still work; every later one never ends, as on a disk that hangs. */
  readonly syncStallAfter?: number;
  /** Milliseconds by which every sync takes longer. */
  readonly slowSyncMs?: number;
  /** Writes that still work; the next one stops half-way and fails with EIO. */
  readonly tornWriteAfter?: number;
  /** Applying an order whose client id begins with this fails. */
  readonly poisonPrefix?: string;
}

const counts = {
  "sync-error-after": "syncErrorAfter",
  "sync-stall-after": "syncStallAfter",
  "slow-sync-ms": "slowSyncMs",
  "torn-write-after": "tornWriteAfter",
} as const satisfies Record<string, keyof FaultSwitches>;

const known = [...Object.keys(counts), "poison-prefix"].join(", ");

const invalid = (detail: string): FatalError => new FatalError("config", `TE_FAULTS ${detail}`);

/** Reads `name=value,name=value` from TE_FAULTS. Throws a FatalError with reason `config` at the first thing it does not know. */
export const readFaultSwitches = (env: Environment): FaultSwitches => {
  const text = env["TE_FAULTS"];
  if (text === undefined) return {};
  const switches: { -readonly [Name in keyof FaultSwitches]: FaultSwitches[Name] } = {};
  const seen = new Set<string>();
  for (const item of text.split(",")) {
    const [name = "", value, ...more] = item.split("=");
    if (value === undefined || more.length > 0) throw invalid(`must be name=value,name=value, not "${item}"`);
    if (seen.has(name)) throw invalid(`names ${name} twice`);
    seen.add(name);
    if (name === "poison-prefix") {
      if (!/^[\x21-\x7e]+$/.test(value)) throw invalid(`${name} must be a part of a client id, not "${value}"`);
      switches.poisonPrefix = value;
      continue;
    }
    const field = Object.hasOwn(counts, name) ? counts[name as keyof typeof counts] : undefined;
    if (field === undefined) throw invalid(`does not know "${name}"; there are: ${known}`);
    if (!/^\d{1,9}$/.test(value)) throw invalid(`${name} must be a whole number, not "${value}"`);
    switches[field] = Number(value);
  }
  return switches;
};
