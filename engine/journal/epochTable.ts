import type { JournalRecord } from "./record.ts";

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
