import { createRequire } from "node:module";

import { Exchange } from "../../../engine/exchange/exchange.ts";
import type { Command, JournalRecord } from "../../../engine/journal/record.ts";
import { cancelOf, epochStart, limitOrder } from "../../../engine/testing/records.ts";
import type { Operation } from "./workload.ts";

export const contenderNames = ["ours", "npmBook"] as const;
export type ContenderName = (typeof contenderNames)[number];

/** A book with nothing in it, and its operations made ready: only applying them is measured. */
export interface Contender {
  readonly prepare: (operations: readonly Operation[]) => (() => void)[];
}

export const contenders: Readonly<Record<ContenderName, () => Contender>> = {
  ours: () => ourExchange(),
  npmBook: () => npmBook(),
};

/** All that a record costs: the book, the table of client ids and the digest. */
const ourExchange = (): Contender => {
  const exchange = new Exchange();
  exchange.apply(epochStart(1, 1, { clientIdWindow: 100_000 }));
  return {
    prepare: (operations) => {
      const records = operations.map(
        (operation, index): JournalRecord => ({
          epoch: 1,
          seq: exchange.appliedSeq + 1 + index,
          committed: 0,
          command: commandOf(operation),
        }),
      );
      return records.map((record) => () => void exchange.apply(record));
    },
  };
};

const commandOf = (operation: Operation): Command => {
  switch (operation.kind) {
    case "limit": {
      const { side, price, quantity } = operation;
      return limitOrder(operation.id, { side, price, quantity });
    }
    case "market":
      return limitOrder(operation.id, { type: "market", side: operation.side, price: 0, quantity: operation.quantity });
    case "cancel":
      return cancelOf(operation.id);
  }
};

/** As much of nodejs-order-book 10.1.1 as is used here; its package names a file of types that it does not have. */
interface NpmOrderBook {
  limit(options: { side: string; id: string; size: number; price: number }): unknown;
  market(options: { side: string; id: string; size: number }): unknown;
  cancel(id: string): unknown;
}

const npmBook = (): Contender => {
  const load = createRequire(import.meta.url);
  const { OrderBook } = load("nodejs-order-book") as { readonly OrderBook: new () => NpmOrderBook };
  const book = new OrderBook();
  return {
    prepare: (operations) =>
      operations.map((operation) => {
        switch (operation.kind) {
          case "limit": {
            const { side, id, quantity: size, price } = operation;
            const options = { side, id, size, price };
            return () => void book.limit(options);
          }
          case "market": {
            const { side, id, quantity: size } = operation;
            const options = { side, id, size };
            return () => void book.market(options);
          }
          case "cancel":
            return () => void book.cancel(operation.id);
        }
      }),
  };
};
