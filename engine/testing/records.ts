import type { CancelOrder, Command, EpochStart, JournalRecord, PlaceOrder, ReplaceOrder } from "../journal/record.ts";
import { BatchWriter, type RecordBatch } from "../journal/recordBatch.ts";

/** An epoch start as record `seq`. */
export const epochStart = (
  epoch: number,
  seq: number,
  terms: Partial<Omit<EpochStart, "kind">> = {},
): JournalRecord => ({
  epoch,
  seq,
  committed: seq - 1,
  command: {
    kind: "epochStart",
    previous: { epoch: epoch - 1, seq: seq - 1 },
    instance: "te-0",
    tradingPair: "BTC/USDT",
    tickSize: "0.01",
    lotSize: "0.00001",
    clientIdWindow: 1_000_000,
    ...terms,
  },
});

export const limitOrder = (clientId: string, terms: Partial<Omit<PlaceOrder, "kind">> = {}): PlaceOrder => ({
  kind: "order",
  account: "",
  clientId,
  side: "buy",
  type: "limit",
  price: 10_000,
  stopPrice: 0,
  quantity: 5,
  timeInForce: "gtc",
  postOnly: false,
  selfTrade: "cancelNewest",
  after: 0,
  ...terms,
});

export const cancelOf = (clientId: string, account = ""): CancelOrder => ({ kind: "cancel", account, clientId });

/** An order `clientId` in the place of `target`; what `changes` does not name stays as it is. */
export const replaceOf = (
  target: string,
  clientId: string,
  changes: Partial<Omit<ReplaceOrder, "kind">> = {},
): ReplaceOrder => ({
  kind: "replace",
  account: "",
  clientId,
  target,
  price: 0,
  stopPrice: 0,
  quantity: 0,
  after: 0,
  ...changes,
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
