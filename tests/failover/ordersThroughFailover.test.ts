import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { annotations } from "../../api/names.ts";
import type { TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import { written } from "../../engine/testing/engineClient.ts";
import { temporaryDirectory } from "../../engine/testing/temporaryDirectory.ts";
import { type FakeApiServer, startFakeApiServer } from "../fakeApiServer/index.ts";
import { checkHistory, type HistoryReport, keepsPromise } from "../orders/check.ts";
import { defaultOptions, type OrderClient, startOrderClient } from "../orders/orderClient.ts";
import { compareStates } from "../support/stateHashes.ts";
import { waitFor } from "../support/waitFor.ts";
import { collections, LocalPods } from "./localPods.ts";
import { startRoleLane } from "./roleLaneHarness.ts";

const [namespace, engine] = ["trading", "btc-usdt"];
const names = [0, 1, 2].map((ordinal) => `${engine}-${ordinal}`);
const ordinalOf = (name: string): number => names.indexOf(name);
const deadlineMs = 30_000;

/** Three engine processes, the role lane, and an order client, all of them real; only the API server is not. */
class Exchange {
  readonly api: FakeApiServer;
  readonly pods: LocalPods;
  readonly orders: OrderClient;

  private constructor(api: FakeApiServer, pods: LocalPods, orders: OrderClient) {
    this.api = api;
    this.pods = pods;
    this.orders = orders;
  }

  static async open(test: TestContext): Promise<Exchange> {
    const api = await startFakeApiServer();
    test.after(() => api.stop());
    const pods = new LocalPods(test, await temporaryDirectory(test), api);
    pods.declare({ tradingPair: "BTC/USDT", image: "engine:1", replicas: 3, storage: { size: "1Gi" } });
    await Promise.all(names.map((_, ordinal) => pods.start(ordinal)));
    startRoleLane(test, api, pods);
    const targets = names.map((name) => written(pods.client(name).addresses.orders));
    const orders = startOrderClient({
      ...defaultOptions,
      destination: { kind: "replicas", targets },
      run: "t",
      workers: 8,
      ratePerSecond: 200,
    });
    test.after(() => orders.stop(0));
    return new Exchange(api, pods, orders);
  }

  get status(): TradingEngineStatus {
    return this.api.store.get(collections.engines, namespace, engine)?.["status"] ?? {};
  }

  /** The primary, once every replica is ready and `acks` orders were acknowledged in its epoch. */
  async trading(acks = 100): Promise<string> {
    const seen = await waitFor({
      what: "trading with every replica ready",
      deadlineMs,
      everyMs: 20,
      look: () => Promise.resolve({ status: this.status, summary: this.orders.summary() }),
      until: ({ status, summary }) =>
        status.conditions?.find(({ type }) => type === "Ready")?.status === "True" &&
        summary.epochs.some((tally) => tally.epoch === status.epoch && tally.acks >= acks),
    });
    return seen.status.primary ?? "";
  }

  /** Another primary than `old`, acknowledging. */
  async replaced(old: string): Promise<void> {
    await waitFor({
      what: `another primary than ${old} to acknowledge`,
      deadlineMs,
      everyMs: 20,
      look: () => Promise.resolve({ status: this.status, summary: this.orders.summary() }),
      until: ({ status, summary }) =>
        (status.primary ?? old) !== old && summary.epochs.some((tally) => tally.epoch === status.epoch),
    });
  }

  annotate(changes: Readonly<Record<string, string>>): void {
    const object = this.api.store.get(collections.engines, namespace, engine);
    assert.ok(object !== undefined);
    this.api.store.put(collections.engines, { ...object, metadata: { ...object.metadata, annotations: changes } });
  }

  /** Stops the orders and holds them against the journal of the last primary and the states of all replicas. */
  async settle(test: TestContext): Promise<HistoryReport> {
    const { unresolved, refused, refusals } = await this.orders.stop(deadlineMs);
    assert.equal(refused, 0, refusals.join("; "));
    const journal = await this.pods.client(this.status.primary ?? "").journal();
    const report = checkHistory({ acks: this.orders.acks(), journal, unresolved });
    test.diagnostic(
      `${report.acked} orders, pauses ${report.epochChanges.map(({ gapMs }) => Math.round(gapMs)).join(", ")} ms`,
    );
    assert.ok(keepsPromise(report), report.violations.join("; "));
    assert.equal(report.unresolved, 0);
    const states = await compareStates(names, (name) => this.pods.client(name).status(), deadlineMs);
    assert.ok(states.agree, JSON.stringify(states));
    return report;
  }
}

describe("orders through failovers of real engines", () => {
  it("are neither lost nor acknowledged twice when primaries are killed one after the other", async (test) => {
    const exchange = await Exchange.open(test);
    for (let round = 0; round < 3; round++) {
      const primary = await exchange.trading();
      await exchange.pods.kill(primary);
      await exchange.replaced(primary);
      await exchange.pods.start(ordinalOf(primary));
    }
    await exchange.trading();
    const report = await exchange.settle(test);
    assert.deepEqual(
      report.epochChanges.map(({ from, to }) => to - from),
      [1, 1, 1],
    );
  });

  it("are neither lost nor acknowledged twice when a primary is frozen and thaws under another one", async (test) => {
    const exchange = await Exchange.open(test);
    const primary = await exchange.trading();
    exchange.pods.signal(primary, "SIGSTOP");
    await exchange.replaced(primary);
    exchange.pods.signal(primary, "SIGCONT");
    assert.notEqual(await exchange.trading(), primary);
    await exchange.settle(test);
  });

  it("are neither lost nor refused when the primary moves on request", async (test) => {
    const exchange = await Exchange.open(test);
    const primary = await exchange.trading();
    const target = names.find((name) => name !== primary) ?? "";
    exchange.annotate({ [annotations.switchoverTo]: target });
    await exchange.replaced(primary);
    assert.equal(await exchange.trading(), target);
    await exchange.settle(test);
  });
});
