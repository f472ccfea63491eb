/** A million resting orders, each with its client id; sends the mebibytes that they take. Needs --expose-gc. */
import { Exchange } from "../../../engine/exchange/exchange.ts";
import { epochStart, limitOrder, record } from "../../../engine/testing/records.ts";

const orders = 1_000_000;

const used = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const before = used();
const exchange = new Exchange();
exchange.apply(epochStart(1, 1));
for (let seq = 2; seq < orders + 2; seq += 1) {
  const terms = { price: 1 + (seq % 20_000), quantity: 1 + (seq % 1_000), account: `account-${seq % 1_000}` };
  // As they come from the journal: every text a string of its own.
  exchange.apply(record(1, seq, limitOrder(Buffer.from(`client-order-${seq}`).toString("latin1"), terms)));
}
process.send?.((used() - before) / 1024 ** 2);
if (exchange.book.size !== orders) throw new Error(`${exchange.book.size} orders rest`);
