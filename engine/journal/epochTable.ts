import { type JournalRecord, origin, type Position } from "./record.ts";

/** Where an epoch begins in a history, and who led it. */
export interface EpochEntry {
  readonly epoch: number;
  readonly startSeq: number;
  readonly instance: string;
}

/** The epochs of one history, oldest first, with the sequence number at which that history ends. */
export interface EpochTable {
  readonly entries: readonly EpochEntry[];
  readonly end: number;
}

/** Where a history can be continued without what came before: everything up to `position` is held otherwise. */
export interface HistoryBase {
  readonly position: Position;
  /** Epochs up to `position`. */
  readonly epochs: readonly EpochEntry[];
}

export const emptyHistory: HistoryBase = { position: origin, epochs: [] };

/** The entry that `record` adds to its table; null unless it starts an epoch. */
export const epochEntryOf = (record: JournalRecord): EpochEntry | null =>
  record.command.kind === "epochStart"
    ? { epoch: record.epoch, startSeq: record.seq, instance: record.command.instance }
    : null;

/** Epoch of the record `seq`; 0 before the first epoch. */
export const epochAt = (entries: readonly EpochEntry[], seq: number): number =>
  entries.findLast((entry) => entry.startSeq <= seq)?.epoch ?? 0;

/** The highest epoch that `instance` led; 0 if none. */
export const lastEpochLedBy = (entries: readonly EpochEntry[], instance: string): number =>
  entries.findLast((entry) => entry.instance === instance)?.epoch ?? 0;

/**
 * The last sequence number up to which both histories are the same. An epoch has one primary, so two
 * histories that both hold an epoch agree on it as far as the shorter one goes; sequence numbers alone
 * prove nothing, because a cut tail and its replacement share them.
 */
export const commonEnd = (a: EpochTable, b: EpochTable): number => {
  for (const entry of a.entries.toReversed()) {
    const other = b.entries.find((candidate) => candidate.epoch === entry.epoch);
    if (other?.startSeq === entry.startSeq) {
      return Math.min(endOfEpoch(a, entry.epoch), endOfEpoch(b, entry.epoch));
    }
  }
  return 0;
};

const endOfEpoch = (table: EpochTable, epoch: number): number => {
  const next = table.entries.find((entry) => entry.epoch > epoch);
  return next === undefined ? table.end : next.startSeq - 1;
};

/** Null when `value` is not a list of epochs. */
export const parseEpochEntries = (value: unknown): readonly EpochEntry[] | null => {
  if (!Array.isArray(value)) return null;
  const entries: EpochEntry[] = [];
  for (const item of value as readonly unknown[]) {
    const fields = new Map<string, unknown>(typeof item === "object" && item !== null ? Object.entries(item) : []);
    const [epoch, startSeq, instance] = ["epoch", "startSeq", "instance"].map((name) => fields.get(name));
    if (!isCount(epoch) || !isCount(startSeq) || typeof instance !== "string") return null;
    entries.push({ epoch, startSeq, instance });
  }
  return entries;
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
