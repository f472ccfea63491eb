import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import { temporaryDirectory } from "../../engine/testing/temporaryDirectory.ts";
import { type FakeApiServer, startFakeApiServer } from "../fakeApiServer/index.ts";
import { collections, LocalPods } from "./localPods.ts";
import { startRoleLane } from "./roleLaneHarness.ts";

const names = ["btc-usdt-0", "btc-usdt-1", "btc-usdt-2"] as const;
const spec = {
  tradingPair: "BTC/USDT",
  image: "engine:1",
  replicas: 3,
  storage: { size: "1Gi" },
};

interface Lab {
  readonly api: FakeApiServer;
  readonly pods: LocalPods;
}

const startLab = async (test: TestContext): Promise<Lab> => {
  const api = await startFakeApiServer();
  test.after(() => api.stop());
  const pods = new LocalPods(test, await temporaryDirectory(test), api);
  pods.declare(spec);
  await Promise.all(names.map((_, ordinal) => pods.start(ordinal)));
  return { api, pods };
};

/** Generous: the machine may be busy with anything else. */
const patienceMs = 30_000;

const eventually = async (what: string, holds: () => boolean, describeState: () => unknown): Promise<void> => {
  const deadline = performance.now() + patienceMs;
  while (!holds()) {
    if (performance.now() > deadline) assert.fail(`${what} did not come true: ${JSON.stringify(describeState())}`);
    await sleep(10);
  }
};

const statusOf = ({ api }: Lab): TradingEngineStatus =>
  api.store.get(collections.engines, "trading", "btc-usdt")?.["status"] ?? {};

const conditionOf = (lab: Lab, type: string): string | undefined =>
  statusOf(lab).conditions?.find((condition) => condition.type === type)?.status;

const leaseOf = ({ api }: Lab): { holderIdentity: string; leaseTransitions: number } =>
  api.store.get(collections.leases, "trading", "btc-usdt")?.["spec"] as never;

const reasonsOf = ({ api }: Lab): readonly unknown[] =>
  api.store.list(collections.events, "trading").map((event) => event["reason"]);

const primaryNow = (lab: Lab): string => {
  const { primary } = statusOf(lab);
  assert.ok(primary !== undefined && primary !== "", "there is a primary");
  return primary;
};

const ready = (lab: Lab): Promise<void> =>
  eventually(
    "Ready",
    () => conditionOf(lab, "Ready") === "True",
    () => statusOf(lab),
  );

const settledAfter = (lab: Lab, old: string): Promise<void> =>
  eventually(
    "another primary that accepts orders",
    () => (statusOf(lab).primary ?? old) !== old && conditionOf(lab, "PrimaryAvailable") === "True",
    () => statusOf(lab),
  );

describe("the role lane with real engines", () => {
  it("elects a first primary, replaces it when it is killed, and takes the old one back as a standby", async (test) => {
    const lab = await startLab(test);
    startRoleLane(test, lab.api, lab.pods);
    await ready(lab);
    const first = primaryNow(lab);
    assert.deepEqual(leaseOf(lab), { holderIdentity: first, leaseTransitions: 1 });
    assert.equal(lab.pods.roleOf(first), "primary");
    for (const other of names.filter((name) => name !== first)) assert.equal(lab.pods.roleOf(other), "standby");

    const acked = await lab.pods.client(first).bid("before-the-kill");
    assert.equal(acked.status, 200);
    await lab.pods.kill(first);
    await settledAfter(lab, first);
    const second = primaryNow(lab);
    assert.equal(leaseOf(lab).holderIdentity, second);
    assert.equal(leaseOf(lab).leaseTransitions, 2);
    assert.equal(lab.pods.roleOf(second), "primary");
    assert.equal(lab.pods.roleOf(first), "standby");
    assert.equal((await lab.pods.client(second).find("before-the-kill")).status, 200);
    const { lastFailover } = statusOf(lab);
    assert.equal(lastFailover?.from, first);
    assert.equal(lastFailover.to, second);
    assert.equal(lastFailover.reason, "ProcessExited");
    test.diagnostic(`phases: ${JSON.stringify(lastFailover.phases)}`);

    await lab.pods.start(Number(first.slice(-1)));
    await ready(lab);
    assert.equal(primaryNow(lab), second);
    const { upstream } = await lab.pods.client(first).status();
    assert.equal(upstream?.instance, second);
    for (const reason of ["PrimaryElected", "FailoverStarted", "FailoverCompleted", "ReplicaRebuilt"])
      await eventually(
        `an Event ${reason}`,
        () => reasonsOf(lab).includes(reason),
        () => reasonsOf(lab),
      );
  });

  it("writes nothing while nothing changes", async (test) => {
    const lab = await startLab(test);
    startRoleLane(test, lab.api, lab.pods);
    await ready(lab);
    await sleep(1_000);
    const writes = (): number => lab.api.requests.filter(({ method }) => method !== "GET").length;
    const before = writes();
    await sleep(3_000);
    assert.equal(writes(), before);
  });

  it("replaces a frozen primary, and fences it when it wakes up", async (test) => {
    const lab = await startLab(test);
    startRoleLane(test, lab.api, lab.pods);
    await ready(lab);
    const first = primaryNow(lab);
    lab.pods.signal(first, "SIGSTOP");
    await settledAfter(lab, first);
    const second = primaryNow(lab);
    lab.pods.signal(first, "SIGCONT");
    await ready(lab);
    assert.equal(primaryNow(lab), second);
    const woken = await lab.pods.client(first).status();
    assert.equal(woken.role, "standby");
    assert.equal(woken.upstream?.instance, second);
    assert.equal(leaseOf(lab).leaseTransitions, 2, "exactly one failover");
    test.diagnostic(`phases: ${JSON.stringify(statusOf(lab).lastFailover)}`);
  });

  it("moves a primary that is to be deleted without refusing an order for good", async (test) => {
    const lab = await startLab(test);
    startRoleLane(test, lab.api, lab.pods);
    await ready(lab);
    const first = primaryNow(lab);
    const pod = lab.api.store.get(collections.pods, "trading", first);
    assert.ok(pod !== undefined);
    lab.api.store.put(collections.pods, {
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    await settledAfter(lab, first);
    assert.equal(statusOf(lab).lastFailover?.reason, "PodLeaving");
    assert.equal((await lab.pods.client(first).status()).role, "standby");
    test.diagnostic(`phases: ${JSON.stringify(statusOf(lab).lastFailover?.phases)}`);
    await eventually(
      "an Event",
      () => reasonsOf(lab).includes("SwitchoverCompleted"),
      () => reasonsOf(lab),
    );
  });

  it("waits, and says for whom, when too few replicas are left, and goes on once one is back", async (test) => {
    const lab = await startLab(test);
    startRoleLane(test, lab.api, lab.pods);
    await ready(lab);
    const first = primaryNow(lab);
    const [lost = "", left = ""] = names.filter((name) => name !== first);
    await Promise.all([lab.pods.kill(first), lab.pods.kill(lost)]);
    await eventually(
      "PromotionBlocked",
      () => conditionOf(lab, "PromotionBlocked") === "True",
      () => statusOf(lab),
    );
    const blocked = statusOf(lab).conditions?.find(({ type }) => type === "PromotionBlocked");
    assert.equal(blocked?.reason, "NotEnoughPromises");
    assert.match(blocked.message, new RegExp(`${lost} does not answer`));
    assert.equal(leaseOf(lab).leaseTransitions, 1, "no epoch was used up");
    assert.equal((await lab.pods.client(left).status()).epoch.promised, 1, "the survivor was left alone");

    await lab.pods.start(Number(lost.slice(-1)));
    await settledAfter(lab, first);
    assert.equal(conditionOf(lab, "PromotionBlocked"), "False");
  });

  it("is taken over by another replica of the reconciler, which finds everything as it is", async (test) => {
    const lab = await startLab(test);
    const lane = startRoleLane(test, lab.api, lab.pods);
    await ready(lab);
    const first = primaryNow(lab);
    await lane.stop();
    const before = lab.api.requests.filter(({ method }) => method !== "GET").length;
    startRoleLane(test, lab.api, lab.pods);
    await sleep(2_000);
    assert.equal(lab.api.requests.filter(({ method }) => method !== "GET").length, before, "nothing was written");
    await lab.pods.kill(first);
    await settledAfter(lab, first);
    assert.equal(leaseOf(lab).leaseTransitions, 2);
  });
});
