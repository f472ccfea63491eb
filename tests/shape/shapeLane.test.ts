/**
 * The shape lane on a real API server, by real Pulumi. There are no controllers, so that whatever is written comes from
 * the lane, from Pulumi or from the test.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { childNames, fieldManagers, finalizer } from "../../api/names.ts";
import {
  configMaps,
  type KubeObject,
  leases,
  persistentVolumeClaims,
  pods,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
  storageClasses,
} from "../../reconciler/kube/index.ts";
import { childResources } from "../../reconciler/shape/childWatch.ts";
import type { ShapeResult } from "../../reconciler/shape/index.ts";
import { tradingEngines } from "../../reconciler/tradingEngine/index.ts";
import { countWrites, engineResources, writesBetween } from "../support/apiWrites.ts";
import { waitFor } from "../support/waitFor.ts";
import {
  createEngine,
  eventsOf,
  find,
  namespace,
  patchEngine,
  type RunningLane,
  type ShapeCluster,
  startLane,
  startShapeCluster,
} from "./shapeCluster.ts";

const succeeded = ({ result }: ShapeResult): boolean => result === "succeeded";

describe("shape lane", { timeout: 600_000 }, () => {
  let cluster: ShapeCluster;
  let running: RunningLane;

  before(async () => {
    cluster = await startShapeCluster();
    for (const name of ["fast", "slow"]) {
      await cluster.client.create(storageClasses, {
        metadata: { name },
        provisioner: "example.com/none",
        allowVolumeExpansion: true,
      });
    }
    running = await startLane(cluster);
  });
  after(async () => {
    await running.stop();
    await cluster.stop();
  });

  const created = async (name: string, spec: object = {}): Promise<string> => {
    const key = await createEngine(cluster, name, spec);
    await running.result(key, succeeded);
    return key;
  };

  /** Does something and waits for the run that it must cause. */
  const resultAfter = async (key: string, act: () => Promise<unknown>): Promise<ShapeResult> => {
    const since = running.results.length;
    await act();
    return running.result(key, () => true, since);
  };

  const childrenOf = async (engine: string): Promise<readonly KubeObject[]> => {
    const lists = await Promise.all(
      childResources.map(
        async (resource) =>
          (await cluster.client.list(resource, { namespace, labelSelector: `enginekeeper.dev/engine=${engine}` }))
            .items,
      ),
    );
    return lists.flat();
  };

  const uidsOf = async (engine: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await childrenOf(engine)).map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.uid]),
    );

  /** What a provisioner does to a claim. */
  const bind = async (claim: string): Promise<void> => {
    const ref = { namespace, name: claim };
    await cluster.client.patch(persistentVolumeClaims, ref, { spec: { volumeName: `pv-${claim}` } }, { type: "merge" });
    const status = { phase: "Bound", capacity: { storage: "20Gi" }, accessModes: ["ReadWriteOnce"] };
    await cluster.client.patch(persistentVolumeClaims, ref, { status }, { type: "merge", subresource: "status" });
  };

  it("makes an engine of its spec, owned by it, and remembers the run", async () => {
    const key = await createEngine(cluster, "made");
    const result = await running.result(key, succeeded);
    assert.equal(result.reason, "Created");
    assert.ok((result.changes["create"] ?? 0) >= 12, JSON.stringify(result.changes));
    assert.equal(result.generation, 1);

    const engine = await cluster.client.get(tradingEngines, { namespace, name: "made" });
    assert.deepEqual(engine.metadata.finalizers, [finalizer]);
    const children = await childrenOf("made");
    for (const { kind, metadata } of children) {
      const owners = metadata.ownerReferences?.map(({ uid }) => uid) ?? [];
      assert.deepEqual(
        owners,
        kind === "PersistentVolumeClaim" ? [] : [engine.metadata.uid],
        `${kind}/${metadata.name}`,
      );
    }
    const set = await cluster.client.get(statefulSets, { namespace, name: "made" });
    assert.equal(set.spec?.replicas, 3);
    assert.deepEqual(running.lane.lastResult(key), result);
  });

  it("writes nothing and runs nothing while nothing changes", async () => {
    await created("idle");
    await sleep(1_000);
    const before = await countWrites(cluster.client, engineResources);
    const runs = running.results.length;
    await sleep(6_000);
    assert.deepEqual(writesBetween(before, await countWrites(cluster.client, engineResources)), {});
    assert.equal(running.results.length, runs);
  });

  it("writes nothing by a run that was asked for and finds nothing to do", async () => {
    const key = await created("asked");
    const before = await countWrites(cluster.client, engineResources);
    const result = await resultAfter(key, () => {
      running.lane.request(key, "Requested");
      return Promise.resolve();
    });
    assert.deepEqual([result.result, result.changes], ["succeeded", {}]);
    assert.deepEqual(writesBetween(before, await countWrites(cluster.client, engineResources)), {});
  });

  it("brings a deleted child back, and says so", async () => {
    const key = await created("deleted");
    const { primaryService } = childNames("deleted");
    const result = await resultAfter(key, () => cluster.client.delete(services, { namespace, name: primaryService }));
    assert.deepEqual([result.result, result.reason, result.changes], ["succeeded", "Drift", { create: 1 }]);
    assert.ok((await find(cluster, services, primaryService)) !== undefined);
    await waitFor({
      what: "the events of the drift",
      deadlineMs: 10_000,
      look: async () => [
        ...(await eventsOf(cluster, "deleted", "DriftDetected")),
        ...(await eventsOf(cluster, "deleted", "DriftCorrected")),
      ],
      until: ([detected, corrected]) =>
        detected?.note === `Service/${primaryService} was deleted` && corrected?.note?.includes("restored in") === true,
    });
  });

  it("takes an edit of a child back, and names who made it", async () => {
    const key = await created("edited");
    const { primaryService } = childNames("edited");
    const result = await resultAfter(key, () =>
      cluster.client.patch(
        services,
        { namespace, name: primaryService },
        { spec: { selector: { "enginekeeper.dev/role": "standby" } } },
        { type: "merge", manager: "kubectl-edit" },
      ),
    );
    assert.deepEqual([result.result, result.reason, result.changes], ["succeeded", "Drift", { update: 1 }]);
    const service = await cluster.client.get(services, { namespace, name: primaryService });
    assert.equal(service.spec?.selector?.["enginekeeper.dev/role"], "primary");
    const [event] = await waitFor({
      what: "the event of the edit",
      deadlineMs: 10_000,
      look: () => eventsOf(cluster, "edited", "DriftDetected"),
      until: (events) => events.length > 0,
    });
    assert.match(event?.note ?? "", /Service\/edited was changed by kubectl-edit \(spec\.selector\)/);
  });

  it("leaves alone what others write beside its own fields", async () => {
    const key = await created("shared");
    const runs = running.results.length;
    const ref = { namespace, name: "shared" };
    const merge = { type: "merge", manager: "somebody" } as const;
    await cluster.client.patch(services, ref, { metadata: { annotations: { "example.com/seen": "yes" } } }, merge);
    await cluster.client.patch(statefulSets, ref, { status: { replicas: 2 } }, { ...merge, subresource: "status" });
    await bind(childNames("shared").volume(0));
    await sleep(1_500);
    assert.equal(running.results.slice(runs).filter((entry) => entry.key === key).length, 0);
  });

  it("carries an edited spec out", async () => {
    const key = await created("respecified");
    const result = await resultAfter(key, () =>
      patchEngine(cluster, "respecified", { config: { tickSize: "0.5" }, resources: { requests: { cpu: "3" } } }),
    );
    assert.deepEqual([result.result, result.reason, result.generation], ["succeeded", "SpecChanged", 2]);
    const config = await cluster.client.get(configMaps, { namespace, name: childNames("respecified").config });
    assert.match(config.data?.["config.json"] ?? "", /"tickSize":"0\.5"/);
    const set = await cluster.client.get(statefulSets, { namespace, name: "respecified" });
    assert.equal(set.spec?.template.spec?.containers[0]?.resources?.requests?.["cpu"], "3");
  });

  it("only reports drift where the policy says so, and corrects it once told to", async () => {
    const key = await created("reported", { drift: { policy: "Report" } });
    const { standbyService } = childNames("reported");
    const reported = await resultAfter(key, () => cluster.client.delete(services, { namespace, name: standbyService }));
    assert.deepEqual(
      reported.reportedDrift?.map(({ child, what }) => [child, what]),
      [[`Service/${standbyService}`, "deleted"]],
    );
    assert.equal(await find(cluster, services, standbyService), undefined);
    const since = running.results.length;
    await patchEngine(cluster, "reported", { drift: { policy: "Correct" } });
    const corrected = await running.result(key, ({ reportedDrift }) => reportedDrift === undefined, since);
    assert.equal(corrected.result, "succeeded");
    assert.ok((await find(cluster, services, standbyService)) !== undefined);
  });

  it("does nothing while paused", async () => {
    const key = await created("paused");
    await patchEngine(cluster, "paused", { paused: true });
    const runs = running.results.length;
    await cluster.client.delete(services, { namespace, name: childNames("paused").standbyService });
    await sleep(1_500);
    assert.equal(running.results.slice(runs).filter((entry) => entry.key === key).length, 0);
    const result = await resultAfter(key, () => patchEngine(cluster, "paused", { paused: false }));
    assert.deepEqual([result.result, result.reason], ["succeeded", "Drift"]);
  });

  it("makes a claim anew that was never bound and asks for the wrong class", async () => {
    const key = await created("misclassed", { storageClassName: "slow" });
    const claim = childNames("misclassed").volume(0);
    const result = await resultAfter(key, () => patchEngine(cluster, "misclassed", { storageClassName: "fast" }));
    assert.equal(result.result, "succeeded", result.message);
    assert.equal((await find(cluster, persistentVolumeClaims, claim))?.spec?.storageClassName, "fast");
  });

  it("keeps class and size of a bound volume, and lets it grow", async () => {
    const key = await created("bound");
    const claim = childNames("bound").volume(0);
    await bind(claim);
    const { metadata } = await cluster.client.get(persistentVolumeClaims, { namespace, name: claim });
    const smaller = await resultAfter(key, () =>
      patchEngine(cluster, "bound", { storageClassName: "slow", storage: { size: "10Gi" } }),
    );
    assert.equal(smaller.result, "succeeded", smaller.message);
    const kept = await cluster.client.get(persistentVolumeClaims, { namespace, name: claim });
    assert.equal(kept.metadata.uid, metadata.uid);
    assert.deepEqual([kept.spec?.storageClassName, kept.spec?.resources?.requests?.["storage"]], ["fast", "20Gi"]);
    const larger = await resultAfter(key, () => patchEngine(cluster, "bound", { storage: { size: "30Gi" } }));
    assert.equal(larger.result, "succeeded", larger.message);
    const grown = await cluster.client.get(persistentVolumeClaims, { namespace, name: claim });
    assert.equal(grown.metadata.uid, metadata.uid);
    assert.equal(grown.spec?.resources?.requests?.["storage"], "30Gi");
  });

  it("keeps the volume of a replica that is no longer wanted", async () => {
    const key = await created("shrunk");
    const claim = childNames("shrunk").volume(2);
    await bind(claim);
    assert.equal((await resultAfter(key, () => patchEngine(cluster, "shrunk", { replicas: 2 }))).result, "succeeded");
    assert.ok((await find(cluster, persistentVolumeClaims, claim)) !== undefined);
    assert.equal((await find(cluster, statefulSets, "shrunk"))?.spec?.replicas, 2);
  });

  it("restores a deleted control Secret with the token that the replicas hold", async () => {
    const key = await created("token");
    const name = childNames("token").controlSecret;
    const before = await cluster.client.get(secrets, { namespace, name });
    const result = await resultAfter(key, () => cluster.client.delete(secrets, { namespace, name }));
    assert.equal(result.result, "succeeded", result.message);
    assert.deepEqual((await find(cluster, secrets, name))?.data, before.data);
  });

  const losses = [
    { how: "deleted", lose: (name: string) => cluster.client.delete(secrets, { namespace, name }) },
    {
      how: "torn",
      lose: (name: string) =>
        cluster.client.patch(
          secrets,
          { namespace, name },
          { data: { "checkpoint.json.gz": "H4sI" } },
          { type: "merge" },
        ),
    },
  ];
  for (const { how, lose } of losses) {
    it(`adopts a living engine when its state was ${how} while no daemon ran`, async () => {
      const name = `lost-${how}`;
      const key = await created(name);
      await running.stop();
      const before = await uidsOf(name);
      const token = (await find(cluster, secrets, childNames(name).controlSecret))?.data;
      await lose(childNames(name).stackState);
      running = await startLane(cluster);
      assert.equal((await running.result(key, () => true)).result, "succeeded");
      const after = await uidsOf(name);
      const state = `Secret/${childNames(name).stackState}`;
      assert.deepEqual({ ...after, [state]: "" }, { ...before, [state]: "" }, "no child was made anew");
      assert.deepEqual((await find(cluster, secrets, childNames(name).controlSecret))?.data, token);
    });
  }

  it("finds everything as it was left after a restart, without a run or a write", async () => {
    const key = await created("restarted");
    const last = running.lane.lastResult(key);
    await running.stop();
    const before = await countWrites(cluster.client, engineResources);
    running = await startLane(cluster);
    const known = await running.result(key, () => true);
    assert.deepEqual(known, last);
    await sleep(2_000);
    assert.deepEqual(writesBetween(before, await countWrites(cluster.client, engineResources)), {});
  });

  it("takes an engine down: replicas first, then the rest; the volumes stay", async () => {
    await created("gone");
    const labels = { "enginekeeper.dev/engine": "gone" };
    const pod = { containers: [{ name: "engine", image: "example.com/engine:1" }], nodeName: "none" };
    await cluster.client.create(pods, { metadata: { name: "gone-0", namespace, labels }, spec: pod });
    await cluster.client.create(leases, { metadata: { name: childNames("gone").lease, namespace, labels } });
    await cluster.client.delete(tradingEngines, { namespace, name: "gone" });
    await waitFor({
      what: "the replicas to be told to stop",
      deadlineMs: 30_000,
      look: () => find(cluster, pods, "gone-0"),
      until: (found) => found?.metadata.deletionTimestamp !== undefined,
    });
    assert.equal(await find(cluster, statefulSets, "gone"), undefined);
    assert.ok((await find(cluster, serviceAccounts, "gone")) !== undefined, "what the replicas need is still there");
    assert.ok((await find(cluster, tradingEngines, "gone")) !== undefined);

    // As the kubelet does when the process has ended.
    await cluster.client.delete(pods, { namespace, name: "gone-0" }, { gracePeriodSeconds: 0 });
    await waitFor({
      what: "the engine to go",
      deadlineMs: 30_000,
      look: () => find(cluster, tradingEngines, "gone"),
      until: (found) => found === undefined,
    });
    const left = (await childrenOf("gone")).map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort();
    assert.deepEqual(
      left,
      [0, 1, 2].map((ordinal) => `PersistentVolumeClaim/${childNames("gone").volume(ordinal)}`),
    );
    assert.equal(await find(cluster, leases, childNames("gone").lease), undefined);
  });

  it("deletes the volumes, too, where the policy says so", async () => {
    await created("erased", { deletionPolicy: { volumes: "Delete" } });
    await cluster.client.delete(tradingEngines, { namespace, name: "erased" });
    await waitFor({
      what: "the engine to go",
      deadlineMs: 30_000,
      look: () => find(cluster, tradingEngines, "erased"),
      until: (found) => found === undefined,
    });
    assert.deepEqual(await childrenOf("erased"), []);
  });

  it("is not held up by engines that can never be made", async () => {
    const good = await created("good");
    const bad = [0, 1, 2, 3, 4].map((number) => `bad-${number}`);
    for (const name of bad) {
      // Passes for one of the engine's own, and can never be made so.
      const metadata = { name: childNames(name).config, namespace, labels: { "enginekeeper.dev/engine": name } };
      await cluster.client.create(configMaps, { metadata, immutable: true, data: { a: "b" } });
    }
    const keys = await Promise.all(bad.map((name) => createEngine(cluster, name)));
    await Promise.all(keys.map((key) => running.result(key, ({ result }) => result === "failed")));
    const runs = running.results.length;
    const result = await resultAfter(good, () => patchEngine(cluster, "good", { config: { tickSize: "0.2" } }));
    assert.equal(result.result, "succeeded");
    const between = running.results.slice(runs).filter(({ key }) => key !== good);
    assert.ok(between.length < bad.length, `it waited for ${between.length} runs of others`);
    await Promise.all(bad.map((name) => cluster.client.delete(tradingEngines, { namespace, name })));
  });

  it("leaves what belongs to others alone, and makes the engine once that is out of the way", async () => {
    const name = childNames("crowded").primaryService;
    await cluster.client.create(services, { metadata: { name, namespace }, spec: { ports: [{ port: 80 }] } });
    const key = await createEngine(cluster, "crowded");
    const refused = await running.result(key, () => true);
    assert.match(refused.message ?? "", /in the place of its children: Service\/crowded;/);
    assert.equal((await find(cluster, services, name))?.spec?.ports?.[0]?.port, 80);
    await cluster.client.delete(services, { namespace, name });
    await running.result(key, succeeded);
  });

  it("owns its fields under one name", async () => {
    await created("owner");
    const service = await find(cluster, services, childNames("owner").primaryService);
    assert.deepEqual(
      service?.metadata.managedFields?.map(({ manager }) => manager),
      [fieldManagers.shape],
    );
  });
});
