import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Exchange } from "../exchange/exchange.ts";
import type { FatalError } from "../process/exit.ts";
import { systemTimers } from "../process/timers.ts";
import { eventually } from "../testing/eventually.ts";
import { epochStart, limitOrder, orders, record } from "../testing/records.ts";
import { CommitQueue } from "./commitQueue.ts";

const create = () => {
  const exchange = new Exchange();
  const applied: number[] = [];
  const failures: FatalError[] = [];
  const queue = new CommitQueue({
    exchange,
    timers: systemTimers,
    clockSeconds: () => 0,
    onApplied: ({ seq }) => applied.push(seq),
    onFailure: (error) => failures.push(error),
  });
  queue.add(epochStart(1, 1), null);
  return { exchange, queue, applied, failures };
};

describe("the commit queue", () => {
  it("applies what is committed, and not more", () => {
    const { queue, applied } = create();
    for (const each of orders(1, 2, 6)) queue.add(each, null);
    queue.advance(4);
    assert.deepEqual(applied, [1, 2, 3, 4]);
    assert.deepEqual([queue.received, queue.committed, queue.applied, queue.unapplied], [6, 4, 4, 2]);
  });

  it("applies a record that comes after the news of its commit with the next news", () => {
    const { queue, applied } = create();
    queue.advance(3);
    assert.equal(queue.committed, 1, "only what is here counts");
    for (const each of orders(1, 2, 3)) queue.add(each, null);
    queue.advance(0);
    assert.deepEqual(applied, [1, 2, 3]);
  });

  it("tells whoever waits for a record, once", () => {
    const { queue } = create();
    const told: string[] = [];
    queue.add(record(1, 2, limitOrder("one")), { applied: (effect) => told.push(effect.kind) });
    queue.advance(1);
    assert.deepEqual(told, []);
    queue.advance(2);
    queue.advance(2);
    assert.deepEqual(told, ["order"]);
  });

  it("keeps the record when nobody waits any more", () => {
    const { queue, exchange } = create();
    const told: string[] = [];
    queue.add(record(1, 2, limitOrder("one")), { applied: (effect) => told.push(effect.kind) });
    queue.dropTickets();
    queue.advance(2);
    assert.deepEqual(told, []);
    assert.notEqual(exchange.orderOf("one"), undefined);
  });

  it("forgets a tail that was cut", () => {
    const { queue, applied } = create();
    for (const each of orders(1, 2, 6)) queue.add(each, null);
    queue.advance(2);
    queue.cutAfter(3);
    queue.add(epochStart(2, 4), null);
    queue.advance(4);
    assert.deepEqual(applied, [1, 2, 3, 4]);
    assert.equal(queue.received, 4);
  });

  it("lets other events have their turn during a long catch-up", async () => {
    const { queue, applied } = create();
    for (const each of orders(1, 2, 20_000)) queue.add(each, null);
    queue.advance(20_000);
    assert.ok(applied.length < 20_000, "not all in one turn");
    queue.advance(20_000);
    await eventually("all applied", () => applied.length === 20_000);
    assert.equal(queue.unapplied, 0);
  });

  it("ends the process at a record that cannot be applied, and names it", () => {
    const { queue, failures, applied } = create();
    queue.add(record(1, 3, limitOrder("a gap before it")), null);
    queue.advance(3);
    assert.deepEqual(applied, [1]);
    assert.equal(failures[0]?.reason, "applyFault");
    assert.match(failures[0].message, /applying record 3 failed/);
    assert.equal(failures[0].seq, 3);
  });

  it("applies nothing more after such a record, and blames no other", () => {
    const { queue, failures, applied } = create();
    for (const seq of [3, 4, 5]) queue.add(record(1, seq, limitOrder(`order-${seq}`)), null);
    for (const seq of [3, 4, 5]) queue.advance(seq);
    assert.deepEqual(applied, [1]);
    assert.deepEqual(
      failures.map(({ seq }) => seq),
      [3],
    );
  });

  it("stops before a record that is known to end it, and goes on receiving", () => {
    const { queue, applied } = create();
    queue.haltBefore(3);
    for (const each of orders(1, 2, 5)) queue.add(each, null);
    queue.advance(5);
    assert.deepEqual(applied, [1, 2]);
    assert.deepEqual([queue.received, queue.committed], [5, 5]);
  });

  it("applies nothing while it is paused, and everything afterwards", () => {
    const { queue, applied } = create();
    queue.pause();
    for (const each of orders(1, 2, 5)) queue.add(each, null);
    queue.advance(4);
    assert.deepEqual(applied, []);
    assert.deepEqual([queue.received, queue.committed, queue.unapplied], [5, 4, 5]);
    queue.resume();
    assert.deepEqual(applied, [1, 2, 3, 4]);
  });
});
