import { type Exchange, restoreExchange } from "../exchange/exchange.ts";
import type { SnapshotState } from "./replicaSnapshots.ts";

/** The exchange, as snapshots see it. */
export const snapshotStateOf = (exchange: Exchange): SnapshotState => ({
  get appliedSeq() {
    return exchange.appliedSeq;
  },
  get lastHash() {
    return exchange.lastHash;
  },
  hashAt: (seq) => exchange.hashAt(seq),
  serialise: () => exchange.serialise(),
  restore: async (pieces) => exchange.become(await restoreExchange(pieces)),
});
