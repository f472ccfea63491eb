import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { finalizer } from "../../api/names.ts";
import type { TradingEngineSpecInput } from "../../api/tradingEngine/index.ts";
import { startFakeCluster } from "../../tests/fakeApiServer/index.ts";
import { tearDown } from "./teardown.ts";
import { engineWith } from "./testing/engineFixture.ts";

const deletedAt = "2026-01-01T00:00:00Z";
const soon = new Date("2026-01-01T00:00:10Z");
const late = new Date("2026-01-01T01:00:00Z");

const paths = {
  engine: "/apis/enginekeeper.dev/v1alpha1/tradingengines",
  set: "/apis/apps/v1/statefulsets",
  pod: "/api/v1/pods",
  service: "/api/v1/services",
  secret: "/api/v1/secrets",
  claim: "/api/v1/persistentvolumeclaims",
  lease: "/apis/coordination.k8s.io/v1/leases",
} as const;

const owned = { ownerReferences: [{ kind: "TradingEngine", name: "btc-usdt", uid: "uid-of-engine" }] };
const foreign = { ownerReferences: [{ kind: "TradingEngine", name: "btc-usdt", uid: "uid-of-another" }] };

/** An engine that is on its way out, with all it consists of. */
const start = async (test: TestContext, spec: Partial<TradingEngineSpecInput> = {}) => {
  const { client, server } = await startFakeCluster(test);
  const engine = engineWith(spec, { deletionTimestamp: deletedAt, finalizers: [finalizer] });
  const put = (path: keyof typeof paths, name: string, metadata: object = {}) =>
    server.store.put(paths[path], { metadata: { name, namespace: "trading", ...metadata } });
  put("engine", "btc-usdt", { finalizers: [finalizer] });
  put("set", "btc-usdt", owned);
  put("service", "btc-usdt", owned);
  put("secret", "btc-usdt-stack-state", owned);
  put("claim", "data-btc-usdt-0");
  put("claim", "data-btc-usdt-10");
  put("claim", "data-btc-usdt-x");
  put("lease", "btc-usdt");
  const left = (path: keyof typeof paths) =>
    server.store.list(paths[path], "trading").map(({ metadata }) => metadata.name);
  /** Deletions so far, as the last part of their paths. */
  const deletions = () =>
    server.requests
      .filter(({ method }) => method === "DELETE")
      .map(({ path, body }) => ({ name: path.split("/").slice(-2).join("/"), body }));
  return { client, server, engine, put, left, deletions };
};

describe("tearDown", () => {
  it("stops the replicas first, each in its own time", async (test) => {
    const { client, engine, put, left, deletions } = await start(test);
    put("pod", "btc-usdt-0");
    const progress = await tearDown(client, engine, soon);
    assert.deepEqual(progress, { kind: "waiting", pods: ["btc-usdt-0"], overdue: false });
    assert.deepEqual(
      deletions().map(({ name }) => name),
      ["statefulsets/btc-usdt", "pods/btc-usdt-0"],
    );
    assert.doesNotMatch(deletions()[1]?.body ?? "", /gracePeriodSeconds/);
    assert.deepEqual(left("service"), ["btc-usdt"]);
  });

  it("waits for a replica that is stopping, without asking again", async (test) => {
    const { client, engine, put, deletions } = await start(test);
    put("pod", "btc-usdt-0", { deletionTimestamp: deletedAt });
    assert.equal((await tearDown(client, engine, soon)).kind, "waiting");
    assert.deepEqual(
      deletions().map(({ name }) => name),
      ["statefulsets/btc-usdt"],
    );
  });

  it("removes a replica by force once the deadline has passed", async (test) => {
    const { client, engine, put, deletions } = await start(test);
    put("pod", "btc-usdt-0", { deletionTimestamp: deletedAt });
    assert.deepEqual(await tearDown(client, engine, late), { kind: "waiting", pods: ["btc-usdt-0"], overdue: true });
    assert.match(deletions().at(-1)?.body ?? "", /"gracePeriodSeconds":0/);
  });

  it("then takes everything down but the volumes, the finalizer last", async (test) => {
    const { client, server, engine, left } = await start(test);
    assert.deepEqual(await tearDown(client, engine, soon), { kind: "done" });
    assert.deepEqual([left("set"), left("service"), left("secret"), left("lease")], [[], [], [], []]);
    assert.equal(left("claim").length, 3);
    assert.deepEqual(server.store.get(paths.engine, "trading", "btc-usdt")?.metadata["finalizers"], []);
    const writes = server.requests.filter(({ method }) => method !== "GET").map(({ path }) => path);
    assert.match(writes.at(-2) ?? "", /btc-usdt-stack-state$/, "the state goes last of all");
    assert.match(writes.at(-1) ?? "", /tradingengines\/btc-usdt/);
  });

  it("deletes the volumes of replicas, and no others, where the policy says so", async (test) => {
    const { client, engine, left } = await start(test, { deletionPolicy: { volumes: "Delete" } });
    await tearDown(client, engine, soon);
    assert.deepEqual(left("claim"), ["data-btc-usdt-x"]);
  });

  it("leaves alone what belongs to another engine of the same name", async (test) => {
    const { client, engine, put, left } = await start(test);
    put("service", "btc-usdt-standby", foreign);
    await tearDown(client, engine, soon);
    assert.deepEqual(left("service"), ["btc-usdt-standby"]);
  });

  it("leaves the replicas running when they were orphaned on purpose", async (test) => {
    const { client, engine, put, left } = await start(test);
    put("set", "btc-usdt", foreign);
    put("pod", "btc-usdt-0");
    assert.deepEqual(await tearDown(client, engine, soon), { kind: "done" });
    assert.deepEqual([left("set"), left("pod")], [["btc-usdt"], ["btc-usdt-0"]]);
  });

  it("is broken off by a lost answer anywhere, and ends the same when it is taken up again", async (test) => {
    const { client, server, engine, left } = await start(test);
    for (const path of ["statefulsets", "services", "leases", "secrets"]) {
      server.fail({ method: "DELETE", path, times: 1 }, { do: "loseAnswer" });
      await assert.rejects(tearDown(client, engine, soon), path);
    }
    assert.deepEqual(await tearDown(client, engine, soon), { kind: "done" });
    assert.deepEqual([left("set"), left("service"), left("secret"), left("lease")], [[], [], [], []]);
  });
});
