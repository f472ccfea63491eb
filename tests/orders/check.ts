import type { Ack } from "./ackLog.ts";

/** A record of the surviving journal; `clientId` and `orderId` are those of an order. */
export interface JournalRecord {
  readonly epoch: number;
  readonly seq: number;
  readonly type: string;
  readonly clientId?: string | undefined;
  readonly orderId?: string | undefined;
}

/** One change of epoch as clients saw it. */
export interface EpochChange {
  readonly from: number;
  readonly to: number;
  /** Last acknowledgement of the old epoch to the first of the new, milliseconds. */
  readonly gapMs: number;
}

export interface HistoryReport {
  /** Orders acknowledged. */
  readonly acked: number;
  /** Acknowledged orders that are not in the journal exactly once, at the acknowledged position. */
  readonly lostAcked: number;
  /**
   * Client ids acknowledged at two positions, positions acknowledged to two client ids, and
   * acknowledgements by an old epoch of an order that was sent after a newer one had acknowledged.
   */
  readonly dualAcks: number;
  /**
   * First acknowledgements by an old epoch that arrived after one of a newer epoch, whenever the order was sent.
   * Not a fault by itself: an answer may have been on its way.
   */
  readonly lateAcks: number;
  /** Client ids that the journal holds more than once. */
  readonly duplicatesInJournal: number;
  /** Places where a sequence number does not follow its predecessor's. */
  readonly gapsInSeq: number;
  readonly epochsNonDecreasing: boolean;
  /** Orders whose outcome the client never learnt. */
  readonly unresolved: number;
  readonly epochChanges: readonly EpochChange[];
  /** The longest of `epochChanges`; null without any. */
  readonly failoverGapMs: number | null;
  /** The first few violations, each a sentence. */
  readonly violations: readonly string[];
}

/** What a client holds to be true, and the history to hold it against. */
export interface HistoryToCheck {
  /** In the order of arrival. */
  readonly acks: Iterable<Ack>;
  /** The whole journal of a surviving replica, oldest first. */
  readonly journal: Iterable<JournalRecord>;
  readonly unresolved: number;
}

const keptViolations = 20;

/** True when the history keeps the promise: no acknowledged order lost, none acknowledged twice. */
export function keepsPromise(report: HistoryReport): boolean {
  return (
    report.lostAcked === 0 &&
    report.dualAcks === 0 &&
    report.duplicatesInJournal === 0 &&
    report.gapsInSeq === 0 &&
    report.epochsNonDecreasing
  );
}

/** Compares every acknowledgement with the surviving journal. Linear in both; needs memory for one entry per order. */
export function checkHistory({ acks, journal, unresolved }: HistoryToCheck): HistoryReport {
  const violations: string[] = [];
  const note = (violation: string): void => {
    if (violations.length < keptViolations) violations.push(violation);
  };
  const order = readJournal(journal, note);
  const answers = readAcks(acks, note);

  let lostAcked = 0;
  for (const ack of answers.byClient.values()) {
    const loss = howLost(ack, order.byClient.get(ack.clientId));
    if (loss === null) continue;
    lostAcked++;
    note(`order ${ack.clientId}, acknowledged at ${at(ack)}, ${loss}`);
  }

  return {
    acked: answers.byClient.size,
    lostAcked,
    dualAcks: answers.dualAcks,
    lateAcks: answers.lateAcks,
    duplicatesInJournal: order.duplicates,
    gapsInSeq: order.gaps,
    epochsNonDecreasing: order.epochsNonDecreasing,
    unresolved,
    epochChanges: answers.epochChanges,
    failoverGapMs: answers.epochChanges.length === 0 ? null : Math.max(...answers.epochChanges.map((c) => c.gapMs)),
    violations,
  };
}

type Note = (violation: string) => void;

const at = (position: { readonly epoch: number; readonly seq: number }): string =>
  `epoch ${position.epoch} seq ${position.seq}`;

interface Placed {
  readonly record: JournalRecord;
  copies: number;
}

function howLost(ack: Ack, placed: Placed | undefined): string | null {
  if (placed === undefined) return "is not in the journal";
  const { record, copies } = placed;
  if (copies > 1) return `is in the journal ${copies} times`;
  if (record.epoch !== ack.epoch || record.seq !== ack.seq) return `is in the journal at ${at(record)}`;
  if (record.orderId !== undefined && record.orderId !== ack.orderId) {
    return `is order ${record.orderId} in the journal but was acknowledged as ${ack.orderId}`;
  }
  return null;
}

function readJournal(journal: Iterable<JournalRecord>, note: Note) {
  const byClient = new Map<string, Placed>();
  let duplicates = 0;
  let gaps = 0;
  let epochsNonDecreasing = true;
  let previous: JournalRecord | null = null;
  for (const record of journal) {
    if (previous !== null && record.seq !== previous.seq + 1) {
      gaps++;
      note(`the journal goes from ${at(previous)} to ${at(record)}`);
    }
    if (previous !== null && record.epoch < previous.epoch) {
      epochsNonDecreasing = false;
      note(`the journal falls back from ${at(previous)} to ${at(record)}`);
    }
    previous = record;
    // A cancellation names the client id of the order that it cancels.
    if (record.clientId === undefined || record.type === "cancel") continue;
    const placed = byClient.get(record.clientId);
    if (placed === undefined) {
      byClient.set(record.clientId, { record, copies: 1 });
      continue;
    }
    placed.copies++;
    if (placed.copies === 2) duplicates++;
    note(`order ${record.clientId} is in the journal at ${at(placed.record)} and again at ${at(record)}`);
  }
  return { byClient, duplicates, gaps, epochsNonDecreasing };
}

function readAcks(acks: Iterable<Ack>, note: Note) {
  const byClient = new Map<string, Ack>();
  const bySeq = new Map<number, string>();
  const twofoldClients = new Set<string>();
  const twofoldSeqs = new Set<number>();
  const epochChanges: EpochChange[] = [];
  let staleAcks = 0;
  let lateAcks = 0;
  /** The newest epoch that acknowledged, with its first and latest acknowledgement. */
  let newest: { epoch: number; firstMs: number; lastMs: number } | null = null;

  for (const ack of acks) {
    const earlier = byClient.get(ack.clientId);
    if (earlier === undefined) {
      byClient.set(ack.clientId, ack);
    } else if (earlier.epoch !== ack.epoch || earlier.seq !== ack.seq || earlier.orderId !== ack.orderId) {
      twofoldClients.add(ack.clientId);
      note(`order ${ack.clientId} was acknowledged at ${at(earlier)} and at ${at(ack)}`);
    }

    const holder = bySeq.get(ack.seq);
    if (holder === undefined) {
      bySeq.set(ack.seq, ack.clientId);
    } else if (holder !== ack.clientId) {
      twofoldSeqs.add(ack.seq);
      note(`seq ${ack.seq} was acknowledged to ${holder} and, in epoch ${ack.epoch}, to ${ack.clientId}`);
    }

    // A repeated answer rightly carries the epoch in which the order was first acknowledged.
    if (ack.duplicate) continue;
    if (newest === null || ack.epoch > newest.epoch) {
      if (newest !== null) epochChanges.push({ from: newest.epoch, to: ack.epoch, gapMs: ack.ackedMs - newest.lastMs });
      newest = { epoch: ack.epoch, firstMs: ack.ackedMs, lastMs: ack.ackedMs };
    } else if (ack.epoch === newest.epoch) {
      newest.lastMs = ack.ackedMs;
    } else {
      lateAcks++;
      if (ack.sentMs <= newest.firstMs) continue;
      staleAcks++;
      note(
        `order ${ack.clientId} was acknowledged by epoch ${ack.epoch} although epoch ${newest.epoch} acknowledged before it was sent`,
      );
    }
  }
  return { byClient, epochChanges, lateAcks, dualAcks: twofoldClients.size + twofoldSeqs.size + staleAcks };
}
