import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { fieldManagers, finalizer } from "../../api/names.ts";
import type { TradingEngineSpecInput } from "../../api/tradingEngine/index.ts";
import { startFakeCluster } from "../../tests/fakeApiServer/index.ts";
import { ApiError, isConflict, services, statefulSets, systemClock } from "../kube/index.ts";
import { emptyCheckpoint } from "./checkpoint.ts";
import type { Child } from "./childWatch.ts";
import { convergeShape } from "./convergeShape.ts";
import { ownedFieldsHash } from "./ownFields.ts";
import { createShapeMemory } from "./shapeMemory.ts";
import type { ShapeReason } from "./shapeResult.ts";
import { createStateStore } from "./stateStore.ts";
import { childOf, engineName, engineWith, namespace } from "./testing/engineFixture.ts";
import type { UpJob } from "./worker/protocol.ts";
import { type JobOutcome, nothingRun } from "./worker/workerPool.ts";

const paths = { Service: "/api/v1/services", StatefulSet: "/apis/apps/v1/statefulsets" } as const;

const applied = ({ object }: Child) => ({
  kind: object.kind,
  name: object.metadata.name,
  resourceVersion: object.metadata.resourceVersion,
  owned: ownedFieldsHash(object, fieldManagers.shape),
});

/** An engine of a Service and a StatefulSet, and Pulumi replaced by `outcome`, which puts both into the cluster. */
const start = async (test: TestContext) => {
  const { client, server } = await startFakeCluster(test);
  const children = [
    childOf(services, engineName, { type: "ClusterIP" }),
    childOf(statefulSets, engineName, { replicas: 3 }),
  ];
  const put = ({ resource, object }: Child) =>
    server.store.put(paths[resource.kind as keyof typeof paths], { ...object, metadata: { ...object.metadata } });
  const world = {
    /** What the local copy shows. */
    copies: [] as readonly Child[],
    jobs: [] as Omit<UpJob, "directory">[],
    events: [] as string[],
    outcome: (): JobOutcome => {
      for (const child of children) put(child);
      world.copies = children;
      return { ...nothingRun, result: "succeeded", changes: { create: 2 }, applied: children.map(applied) };
    },
  };
  const tell =
    (name: string) =>
    (...args: readonly unknown[]) =>
      void world.events.push(`${name} ${JSON.stringify(args.slice(1))}`);
  const memory = createShapeMemory();
  const context = {
    client,
    store: createStateStore(client),
    pool: {
      run: (job: Omit<UpJob, "directory">) => {
        world.jobs.push(job);
        return Promise.resolve({ checkpoint: job.checkpoint, ...world.outcome() });
      },
    },
    events: {
      driftDetected: tell("driftDetected"),
      driftCorrected: tell("driftCorrected"),
      updateFailed: tell("updateFailed"),
      volumeReplaced: tell("volumeReplaced"),
      stateLost: tell("stateLost"),
      deletionBlocked: tell("deletionBlocked"),
    },
    clock: systemClock,
    random: (size: number) => Buffer.alloc(size),
    children: { childrenOf: () => world.copies },
    memory,
    program: { operatorNamespace: "enginekeeper-system", programVersion: "1" },
  };
  const converge = (reason: ShapeReason, spec: Partial<TradingEngineSpecInput> = {}, metadata: object = {}) => {
    const engine = engineWith(spec, { finalizers: [finalizer], ...metadata });
    return convergeShape(context, engine, reason, new AbortController().signal).then((result) => {
      if (result !== undefined) memory.keepResult(`${namespace}/${engineName}`, result);
      return result;
    });
  };
  const writes = () =>
    server.requests
      .filter(({ method }) => method !== "GET")
      .map(({ method, path }) => `${method} ${path.split("?")[0] ?? ""}`);
  return { client, server, world, memory, converge, writes, children, put, context };
};

describe("convergeShape", () => {
  it("runs a new engine's stack from the empty state, and then leaves it alone", async (test) => {
    const { world, converge, writes } = await start(test);
    const result = await converge("Created");
    assert.deepEqual([result?.result, result?.reason, result?.changes], ["succeeded", "Created", { create: 2 }]);
    const [job] = world.jobs;
    assert.equal(job?.checkpoint, JSON.stringify(emptyCheckpoint("trading.btc-usdt")));
    assert.equal(job.refresh, false);
    assert.deepEqual(job.leadership, { primary: "", epoch: 0 });
    const written = writes();
    for (const reason of ["Created", "Drift", "Resync", "SpecChanged"] as const) {
      assert.deepEqual(await converge(reason), result);
    }
    assert.equal(world.jobs.length, 1);
    assert.deepEqual(writes(), written);
  });

  it("puts the finalizer on before anything else is written", async (test) => {
    const { server, converge, writes } = await start(test);
    const metadata = { name: engineName, namespace, finalizers: [] };
    server.store.put("/apis/enginekeeper.dev/v1alpha1/tradingengines", { metadata });
    await converge("Created", {}, { finalizers: [] });
    assert.match(writes()[0] ?? "", /^PATCH .*\/tradingengines\/btc-usdt$/);
  });

  it("runs nothing when the finalizer is refused: the engine is another by now", async (test) => {
    const { server, world, converge } = await start(test);
    server.fail({ method: "PATCH" }, { do: "status", code: 409, reason: "Conflict" });
    await assert.rejects(converge("Created", {}, { finalizers: [] }), isConflict);
    assert.deepEqual(world.jobs, []);
  });

  it("touches nothing, the engine included, while others stand in the place of its children", async (test) => {
    const { server, world, converge, writes } = await start(test);
    server.store.put(paths.Service, { metadata: { name: engineName, namespace, labels: { app: "shop" } } });
    const refused = await converge("Created", {}, { finalizers: [] });
    assert.equal(refused?.result, "failed");
    assert.match(refused.message ?? "", /in the place of its children: Service\/btc-usdt; remove what is in the way/);
    assert.deepEqual([world.jobs, writes()], [[], []]);
    server.store.remove(paths.Service, namespace, engineName);
    assert.equal((await converge("Created"))?.result, "succeeded");
  });

  it("says of an edit that needs no run for which generation it holds", async (test) => {
    const { converge, world } = await start(test);
    const first = await converge("Created");
    const later = await converge("SpecChanged", {}, { generation: 2 });
    assert.deepEqual(later, { ...first, generation: 2 });
    assert.equal(world.jobs.length, 1);
  });

  it("runs for an edit, from the state that it stored", async (test) => {
    const { converge, world } = await start(test);
    await converge("Created");
    const result = await converge("SpecChanged", { image: "registry.example.com/engine:2.0" }, { generation: 2 });
    assert.deepEqual([result?.reason, result?.generation], ["SpecChanged", 2]);
    assert.equal(world.jobs.at(-1)?.program.spec.image, "registry.example.com/engine:2.0");
  });

  it("repairs a child that is gone, after a look at the cluster itself", async (test) => {
    const { converge, world, server, children } = await start(test);
    await converge("Created");
    world.copies = children.slice(1);
    await converge("Drift");
    assert.equal(world.jobs.length, 1, "only the local copy lacked it");
    server.store.remove(paths.Service, namespace, engineName);
    const result = await converge("Drift");
    assert.deepEqual([result?.reason, world.jobs.at(-1)?.refresh], ["Drift", true]);
    assert.match(world.events[0] ?? "", /^driftDetected .*Service\/btc-usdt.*deleted.*true/);
    assert.match(world.events[1] ?? "", /^driftCorrected .*Service\/btc-usdt/);
  });

  it("only tells of drift where the policy says so, until it is gone", async (test) => {
    const { converge, world, server, children, put } = await start(test);
    await converge("Created");
    const report = { drift: { policy: "Report" } } as const;
    await converge("SpecChanged", report);
    const runs = world.jobs.length;
    server.store.remove(paths.Service, namespace, engineName);
    world.copies = children.slice(1);
    const reported = await converge("Drift", report);
    assert.deepEqual(
      reported?.reportedDrift?.map(({ child }) => child),
      ["Service/btc-usdt"],
    );
    assert.equal(world.jobs.length, runs);
    for (const child of children) put(child);
    world.copies = children;
    assert.equal((await converge("Drift", report))?.reportedDrift, undefined);
  });

  it("finds drift that happened between the run's write and its own look", async (test) => {
    const { converge, world, children, put } = await start(test);
    world.outcome = () => {
      const [service] = children;
      assert.ok(service !== undefined);
      for (const child of children) put(child);
      // Somebody took the field over before the run had ended.
      put({ ...service, object: childOf(services, engineName, {}).object });
      world.copies = children;
      return { ...nothingRun, result: "succeeded", applied: children.map(applied) };
    };
    await converge("Created");
    world.outcome = () => ({ ...nothingRun, result: "succeeded", applied: [] });
    assert.equal((await converge("Resync"))?.reason, "Drift");
  });

  it("reports a failed run, keeps what it did, and reads the cluster before the next try", async (test) => {
    const { converge, world } = await start(test);
    const { outcome } = world;
    world.outcome = () => ({ ...nothingRun, result: "failed", message: "denied by a webhook" });
    const failed = await converge("Created");
    assert.deepEqual([failed?.result, failed?.message], ["failed", "denied by a webhook"]);
    assert.deepEqual(world.events, ['updateFailed [false,"denied by a webhook"]']);
    world.outcome = outcome;
    assert.equal((await converge("Created"))?.result, "succeeded");
    assert.equal(world.jobs.at(-1)?.refresh, true);
  });

  it("says that a run was refused", async (test) => {
    const { converge, world } = await start(test);
    world.outcome = () => ({ ...nothingRun, result: "refused", message: "it would replace the StatefulSet" });
    assert.equal((await converge("Created"))?.result, "refused");
    assert.match(world.events[0] ?? "", /^updateFailed \[true/);
  });

  it("starts over when another replica stored a state in between", async (test) => {
    const { converge, server, world } = await start(test);
    await converge("Created");
    server.fail({ method: "PUT", times: 1 }, { do: "status", code: 409, reason: "Conflict" });
    const edit = { image: "registry.example.com/engine:2.0" };
    const stored = world.outcome;
    world.outcome = () => ({
      ...stored(),
      checkpoint: JSON.stringify({ version: 3, checkpoint: { stack: "x", latest: {} } }),
    });
    await assert.rejects(converge("SpecChanged", edit), isConflict);
    assert.equal((await converge("SpecChanged", edit))?.result, "succeeded");
  });

  it("runs nothing while it cannot know what is stored", async (test) => {
    const { converge, server, world } = await start(test);
    server.fail({ method: "GET" }, { do: "status", code: 403, reason: "Forbidden" });
    await assert.rejects(converge("Created"), ApiError);
    assert.deepEqual(world.jobs, []);
  });

  it("knows after a restart how the last run ended", async (test) => {
    const { converge, memory, world } = await start(test);
    const result = await converge("Created");
    memory.forget(`${namespace}/${engineName}`);
    assert.deepEqual(await converge("Resync"), result);
    assert.equal(world.jobs.length, 1);
  });
});
