import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TradingEngineSpecInput } from "../api/tradingEngine/index.ts";
import { only, type Registered, runMocked } from "./testing/mocks.ts";
import { sampleSpec } from "./testing/sampleEngine.ts";
import { TradingEngine, type TradingEngineArgs } from "./tradingEngine.ts";

const built = (
  spec: Partial<TradingEngineSpecInput> = {},
  args: Partial<TradingEngineArgs> = {},
  options: { readonly retainOnDelete?: boolean } = {},
) =>
  runMocked(() => {
    const { endpoint, statefulSet } = new TradingEngine(
      "btc-usdt",
      { namespace: "trading", engine: "btc-usdt", spec: sampleSpec(spec), controlToken: "s3cret", ...args },
      options,
    );
    return { endpoint, statefulSet };
  });

const statefulSetType = "kubernetes:apps/v1:StatefulSet";
const claimType = "kubernetes:core/v1:PersistentVolumeClaim";

const children = (resources: readonly Registered[]): readonly Registered[] =>
  resources.filter(({ type }) => type.startsWith("kubernetes:"));

const metadata = ({ inputs }: Registered) =>
  inputs["metadata"] as {
    name: string;
    namespace: string;
    annotations: Record<string, string>;
    ownerReferences?: unknown[];
  };

/** URNs by hand, kind by kind: a renamed child would be created anew beside, and then deleted with, the live object. */
const expectedChildren = [
  "ConfigMap btc-usdt-config -> btc-usdt-config",
  "NetworkPolicy btc-usdt-network -> btc-usdt",
  "PersistentVolumeClaim btc-usdt-data-0 -> data-btc-usdt-0",
  "PersistentVolumeClaim btc-usdt-data-1 -> data-btc-usdt-1",
  "PersistentVolumeClaim btc-usdt-data-2 -> data-btc-usdt-2",
  "PodDisruptionBudget btc-usdt-disruption -> btc-usdt",
  "Secret btc-usdt-control -> btc-usdt-control",
  "Service btc-usdt-primary -> btc-usdt",
  "Service btc-usdt-replicas -> btc-usdt-replicas",
  "Service btc-usdt-standby -> btc-usdt-standby",
  "ServiceAccount btc-usdt-account -> btc-usdt",
  "StatefulSet btc-usdt-statefulset -> btc-usdt",
];

describe("TradingEngine", () => {
  it("registers exactly the objects of an engine, all within the component and the namespace", async () => {
    const { resources } = await built();
    const seen = children(resources).map((child) => {
      assert.equal(child.parent, "btc-usdt");
      assert.equal(metadata(child).namespace, "trading");
      return `${child.type.split(":").at(-1) ?? ""} ${child.name} -> ${metadata(child).name}`;
    });
    assert.deepEqual(seen.sort(), expectedChildren);
  });

  it("names its type and its outputs", async () => {
    const { resources, outputs } = await built();
    assert.ok(only(resources, "enginekeeper:index:TradingEngine", "btc-usdt"));
    assert.deepEqual(outputs, {
      endpoint: { orders: "btc-usdt.trading.svc:7000", feed: "btc-usdt-standby.trading.svc:7001" },
      statefulSet: "btc-usdt",
    });
  });

  it("writes every object as one field manager, by force, without waiting", async () => {
    const { resources } = await built();
    for (const child of children(resources)) {
      assert.deepEqual(
        metadata(child).annotations,
        {
          "pulumi.com/patchFieldManager": "enginekeeper-shape",
          "pulumi.com/patchForce": "true",
          "pulumi.com/skipAwait": "true",
        },
        child.name,
      );
    }
  });

  it("keeps the token secret on its way to the state", async () => {
    const { resources } = await built();
    const secret = only(resources, "kubernetes:core/v1:Secret", "btc-usdt-control");
    const stringData = secret.inputs["stringData"] as Record<string, unknown>;
    assert.deepEqual(stringData["value"], { token: "s3cret" }, "the mocks show a secret as an object with its value");
  });

  it("makes the volumes and what the pods mount before the StatefulSet", async () => {
    const { resources } = await built();
    const { dependsOn } = only(resources, statefulSetType, "btc-usdt-statefulset").options;
    assert.ok(Array.isArray(dependsOn));
    assert.equal(dependsOn.length, 8);
  });

  it("never replaces the StatefulSet or a claim, because that would delete replicas or journals", async () => {
    const { resources } = await built();
    const { ignoreChanges } = only(resources, statefulSetType, "btc-usdt-statefulset").options;
    for (const field of ["volumeClaimTemplates", "selector", "serviceName", "podManagementPolicy"]) {
      assert.ok(ignoreChanges?.includes(`spec.${field}`), field);
    }
    assert.deepEqual(only(resources, claimType, "btc-usdt-data-0").options.ignoreChanges, [
      "spec.storageClassName",
      "spec.accessModes",
    ]);
  });

  for (const [what, volumes, options, kept] of [
    ["deletionPolicy Retain", "Retain", {}, true],
    ["deletionPolicy Delete", "Delete", {}, false],
    ["deletionPolicy Delete in a component that retains all", "Delete", { retainOnDelete: true }, true],
  ] as const) {
    it(`${what}: the volumes ${kept ? "outlive" : "go with"} the engine`, async () => {
      const { resources } = await built({ deletionPolicy: { volumes } }, {}, options);
      assert.equal(only(resources, claimType, "btc-usdt-data-2").options.retainOnDelete, kept);
    });
  }

  it("has one volume for each replica, also while it hibernates", async () => {
    const { resources } = await built({ replicas: 5, hibernate: true });
    assert.equal(resources.filter(({ type }) => type === claimType).length, 5);
    const spec = only(resources, statefulSetType, "btc-usdt-statefulset").inputs["spec"] as { replicas: number };
    assert.equal(spec.replicas, 0);
  });

  it("in managed mode belongs to its TradingEngine, but the volumes to nobody", async () => {
    const { resources } = await built({}, { ownerReference: { name: "btc-usdt", uid: "4711" } });
    for (const child of children(resources)) {
      const owned = metadata(child).ownerReferences !== undefined;
      assert.equal(owned, child.type !== claimType, child.name);
    }
  });

  it("runs the same pods in direct and in managed mode, so that a hand-over restarts none", async () => {
    const direct = await built({}, {}, { retainOnDelete: true });
    const managed = await built({}, { ownerReference: { name: "btc-usdt", uid: "4711" } });
    const spec = ({ resources }: { resources: readonly Registered[] }) =>
      only(resources, statefulSetType, "btc-usdt-statefulset").inputs["spec"];
    assert.deepEqual(spec(managed), spec(direct));
  });
});
