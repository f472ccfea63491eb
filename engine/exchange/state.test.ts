import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import type { JournalRecord } from "../journal/record.ts";
import { randomCommands } from "../testing/randomCommands.ts";
import { epochStart, limitOrder, record } from "../testing/records.ts";
import { Exchange, restoreExchange } from "./exchange.ts";
import { UnreadableState } from "./stateFormat.ts";

const written = (exchange: Exchange): Buffer[] => [...exchange.serialise()];

const whole = (exchange: Exchange): string => Buffer.concat(written(exchange)).toString("hex");

const withOrders = (count: number): Exchange => {
  const exchange = new Exchange();
  exchange.apply(epochStart(1, 1));
  for (let seq = 2; seq < count + 2; seq += 1) {
    exchange.apply(record(1, seq, limitOrder(`order-${seq}`, { price: 1 + (seq % 500), account: `a${seq % 7}` })));
  }
  return exchange;
};

describe("a snapshot of an exchange", () => {
  const history = fc
    .tuple(fc.integer({ min: 1, max: 40 }), randomCommands(100, 2), fc.nat(101), fc.boolean())
    .map(([clientIdWindow, commands, cut, changesTick]) => {
      const records: JournalRecord[] = [epochStart(1, 1, { clientIdWindow })];
      for (const command of commands) records.push(record(1, records.length + 1, command));
      const tickSize = changesTick ? "0.001" : "0.01";
      const middle = Math.min(cut, records.length);
      const later = records.slice(middle).map(({ command }, index) => record(2, middle + 2 + index, command));
      return {
        before: records.slice(0, middle),
        after: [epochStart(2, middle + 1, { clientIdWindow, tickSize }), ...later],
      };
    });

  it("and the journal behind it make what the whole journal makes, wherever it was taken", async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ before, after }) => {
        const live = new Exchange();
        for (const each of before) live.apply(each);
        const restored = await restoreExchange(written(live));
        assert.deepEqual(restored.lastHash, live.lastHash);
        for (const each of after) {
          live.apply(each);
          restored.apply(each);
          assert.deepEqual(restored.lastHash, live.lastHash);
        }
        assert.equal(whole(restored), whole(live));
      }),
      { numRuns: 60 },
    );
  });

  it("is the same bytes again when it is taken of the restored exchange", async () => {
    const exchange = withOrders(5_000);
    const chunks = written(exchange);
    assert.ok(chunks.length > 2);
    for (const chunk of chunks) assert.ok(chunk.length <= 256 * 1024);
    const restored = await restoreExchange(chunks);
    assert.equal(whole(restored), whole(exchange));
    assert.equal(restored.knownOrders, 5_000);
  });

  it("holds an answer with more trades than a chunk has room for", async () => {
    const exchange = new Exchange();
    exchange.apply(epochStart(1, 1));
    const count = 20_000;
    for (let seq = 2; seq < count + 2; seq += 1) exchange.apply(record(1, seq, limitOrder(`m${seq}`, { quantity: 1 })));
    exchange.apply(record(1, count + 2, limitOrder("sweep", { side: "sell", quantity: count })));
    const restored = await restoreExchange(written(exchange));
    assert.deepEqual(restored.orderOf("sweep")?.answer, exchange.orderOf("sweep")?.answer);
    assert.equal(restored.orderOf("sweep")?.answer.trades.length, 2 * count);
  });

  it("of an exchange that has applied nothing is one too", async () => {
    assert.deepEqual((await restoreExchange(written(new Exchange()))).lastHash, new Exchange().lastHash);
  });

  it("is not written further once something was applied", () => {
    const exchange = withOrders(5_000);
    const chunks = exchange.serialise();
    chunks.next();
    exchange.apply(record(1, 5_002, limitOrder("meanwhile")));
    assert.throws(() => chunks.next(), /record 5002 was applied while the state was written/);
  });

  describe("that is damaged", () => {
    const chunks = written(withOrders(4_000));
    const refused = (what: Buffer[], code: UnreadableState["code"] = "damaged") =>
      assert.rejects(restoreExchange(what), (error) => error instanceof UnreadableState && error.code === code);

    it("in any byte is refused", async () => {
      const [first = Buffer.alloc(0), ...others] = chunks;
      for (const at of [0, 4, 8, 12, 13, 60, first.length >> 1, first.length - 1]) {
        const bytes = Buffer.from(first);
        bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
        await refused([bytes, ...others]);
      }
    });

    it("by a chunk that is missing, double, cut short or out of order is refused", async () => {
      const [first = Buffer.alloc(0), second = Buffer.alloc(0), ...others] = chunks;
      await refused([]);
      await refused(chunks.slice(0, -1));
      await refused([first, ...others]);
      await refused([first, first, second, ...others]);
      await refused([second, first, ...others]);
      await refused([...chunks, first]);
      await refused([first.subarray(0, 100), second, ...others]);
    });
  });
});
