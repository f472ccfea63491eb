import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { checkHistory, keepsPromise } from "./check.ts";
import { FakeReplicas } from "./fakeReplicas.ts";
import { defaultOptions, type OrderClient, type OrderClientOptions, startOrderClient } from "./orderClient.ts";

describe("startOrderClient", () => {
  let replicas: FakeReplicas;
  beforeEach(async () => {
    replicas = await FakeReplicas.start(3);
  });
  afterEach(() => replicas.close());

  const start = (options: Partial<OrderClientOptions> = {}): OrderClient =>
    startOrderClient({
      ...defaultOptions,
      destination: { kind: "replicas", targets: replicas.addresses },
      run: "t",
      ratePerSecond: 1000,
      attemptTimeoutMs: 100,
      ...options,
    });

  async function until(condition: () => boolean): Promise<void> {
    for (let waited = 0; !condition(); waited += 5) {
      assert.ok(waited < 10_000, "not within 10 s");
      await sleep(5);
    }
  }

  const check = (client: OrderClient, unresolved = 0) =>
    checkHistory({ acks: client.acks(), journal: replicas.journal, unresolved });

  it("keeps every order through the loss of the primary", async () => {
    const client = start();
    await until(() => client.summary().acked > 100);
    replicas.killPrimary();
    await sleep(50);
    replicas.promote(2);
    await until(() => (client.summary().epochs[1]?.acks ?? 0) > 100);
    const summary = await client.stop(5000);

    assert.equal(summary.state, "stopped");
    assert.equal(summary.unresolved, 0);
    assert.equal(summary.acked, summary.sent);
    const report = check(client);
    assert.deepEqual(report.violations, []);
    assert.equal(report.acked, summary.acked);
    assert.deepEqual(
      report.epochChanges.map(({ from, to }) => [from, to]),
      [[1, 2]],
    );
    assert.ok((report.failoverGapMs ?? 0) >= 40, `${report.failoverGapMs} ms`);
    assert.ok(summary.repeated > 0, "some orders are sent once more on purpose");
  });

  it("does not send an order twice under two ids when its acknowledgement is lost", async () => {
    const client = start({ workers: 4 });
    await until(() => client.summary().acked > 20);
    replicas.fault = "ackThenHang";
    await sleep(150);
    replicas.fault = "honest";
    const summary = await client.stop(5000);
    assert.equal(summary.unresolved, 0);
    assert.ok(keepsPromise(check(client)));
    assert.ok(
      [...client.acks()].some((ack) => ack.duplicate),
      "the original answer was asked for",
    );
  });

  it("catches an engine that forgets client ids", async () => {
    const client = start({ repeatShare: 0.5 });
    await until(() => client.summary().acked > 50);
    replicas.fault = "forgetful";
    await until(() => client.summary().repeated > 50);
    await client.stop(5000);
    const report = check(client);
    assert.ok(report.dualAcks > 0 && report.duplicatesInJournal > 0 && report.lostAcked > 0, JSON.stringify(report));
  });

  it("says how many orders stayed without an outcome", async () => {
    replicas.fault = "unavailable";
    const client = start({ workers: 3 });
    await until(() => client.summary().retries > 10);
    const summary = await client.stop(20);
    assert.deepEqual([summary.acked, summary.unresolved], [0, 3]);
  });

  it("stops sending when it cannot keep more acknowledgements", async () => {
    const client = start({ maxAcks: 50, ratePerSecond: 0 });
    await until(() => client.summary().full);
    const summary = await client.stop(5000);
    // Every worker may finish the order that it has under way.
    assert.ok(summary.acked + summary.repeated < 50 + defaultOptions.workers, JSON.stringify(summary));
    assert.ok(keepsPromise(check(client)));
  });

  it("reaches the primary through a single address that others route", async () => {
    const [primary = ""] = replicas.addresses;
    const client = start({ destination: { kind: "service", target: primary } });
    await until(() => client.summary().acked > 50);
    replicas.promote(1);
    await until(() => client.summary().retries > 5);
    replicas.promote(0);
    await until(() => client.summary().epoch === 3);
    assert.equal((await client.stop(5000)).unresolved, 0);
    assert.ok(keepsPromise(check(client)));
  });
});
