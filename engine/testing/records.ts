import type { Command, JournalRecord, PlaceOrder } from "../journal/record.ts";
import { BatchWriter, type RecordBatch } from "../journal/recordBatch.ts";

/** An epoch start by `instance` behind record `previousEnd`. */
export const epochStart = (epoch: number, seq: number, instance = "te-0", tickSize = "0.01"): JournalRecord => ({
  epoch,
  seq,
  committed: seq - 1,
  command: {
    kind: "epochStart",
    previous: { epoch: epoch - 1, seq: seq - 1 },
    instance,
    tradingPair: "BTC/USDT",
    tickSize,
    lotSize: "0.00001",
  },
});

export const limitOrder = (clientId: string, terms: Partial<Omit<PlaceOrder, "kind">> = {}): PlaceOrder => ({
  kind: "order",
  clientId,
  side: "buy",
  type: "limit",
  price: 10_000,
  quantity: 5,
  ...terms,
});

export const record = (epoch: number, seq: number, command: Command, committed = 0): JournalRecord => ({
  epoch,
  seq,
  committed,
  command,
});

/** Records `fromSeq` to `toSeq` of `epoch`, each an order of its own. */
export const orders = (epoch: number, fromSeq: number, toSeq: number): JournalRecord[] =>
  Array.from({ length: toSeq - fromSeq + 1 }, (_, index) =>
    record(epoch, fromSeq + index, limitOrder(`order-${epoch}-${fromSeq + index}`)),
  );

export const batch = (...records: readonly JournalRecord[]): RecordBatch => {
  const writer = new BatchWriter();
  for (const each of records) writer.add(each);
  const taken = writer.take();
  if (taken === null) throw new Error("a batch needs a record");
  return taken;
};
