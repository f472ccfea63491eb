import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { labels } from "../../api/names.ts";
import type { TradingEngineSpecInput } from "../../api/tradingEngine/index.ts";
import { sampleEngine } from "../testing/sampleEngine.ts";
import { configHash } from "./config.ts";
import { fixedSetFields, podTemplate, statefulSet } from "./statefulSet.ts";

interface PlainSpec {
  readonly replicas: number;
  readonly serviceName: string;
  readonly podManagementPolicy: string;
  readonly updateStrategy: unknown;
  readonly selector: { readonly matchLabels: Record<string, string> };
  readonly template: {
    readonly metadata: { readonly labels: Record<string, string>; readonly annotations: Record<string, string> };
    readonly spec: {
      readonly automountServiceAccountToken: boolean;
      readonly tolerations: readonly { readonly key: string; readonly tolerationSeconds?: number }[];
      readonly volumes: readonly { readonly name: string }[];
      readonly containers: readonly { readonly volumeMounts: readonly { readonly name: string }[] }[];
    };
  };
  readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
}

const spec = (...engine: Parameters<typeof sampleEngine>): PlainSpec =>
  structuredClone(statefulSet(sampleEngine(...engine)).spec) as unknown as PlainSpec;

/** One change of every field of the spec that a running engine may see. */
const changes: readonly Partial<TradingEngineSpecInput>[] = [
  { image: "registry.example.com/engine:2.0.0" },
  { replicas: 5 },
  { storageClassName: "slow" },
  { storage: { size: "40Gi" } },
  { resources: { requests: { cpu: "4" } } },
  { config: { tickSize: "0.1" } },
  { failoverStrategy: { syncStandbys: 2 } },
  { deletionPolicy: { volumes: "Delete" } },
  { hibernate: true },
  { paused: true },
];

describe("the StatefulSet of an engine", () => {
  it("is this object", (test) => {
    test.assert.snapshot(statefulSet(sampleEngine()));
  });

  it("starts all replicas at once and lets the role lane decide which pod is replaced when", () => {
    const { podManagementPolicy, updateStrategy, serviceName } = spec();
    assert.deepEqual(
      [podManagementPolicy, updateStrategy, serviceName],
      ["Parallel", { type: "OnDelete" }, "btc-usdt-replicas"],
    );
  });

  it("selects the pods that its template makes", () => {
    const { selector, template } = spec();
    for (const [key, value] of Object.entries(selector.matchLabels)) assert.equal(template.metadata.labels[key], value);
  });

  it("gives no pod a role", () => {
    assert.equal(spec().template.metadata.labels[labels.role], undefined);
  });

  it("provides every volume that the container mounts, the data from its own claim", () => {
    const { template, volumeClaimTemplates } = spec();
    const provided = [
      ...template.spec.volumes.map(({ name }) => name),
      ...volumeClaimTemplates.map(({ metadata }) => metadata.name),
    ];
    const mounted = template.spec.containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
    assert.deepEqual(provided.sort(), mounted.sort());
  });

  it("keeps replicas on a node that falls silent: their peers judge whether they are dead", () => {
    for (const { key, tolerationSeconds } of spec().template.spec.tolerations) {
      assert.match(key, /^node\.kubernetes\.io\/(not-ready|unreachable)$/);
      assert.equal(tolerationSeconds, undefined);
    }
  });

  it("gives its pods no access to the Kubernetes API", () => {
    assert.equal(spec().template.spec.automountServiceAccountToken, false);
  });

  for (const [hibernate, replicas] of [
    [false, 3],
    [true, 0],
  ] as const) {
    it(`hibernate ${hibernate}: ${replicas} replicas`, () => {
      assert.equal(spec({ hibernate }).replicas, replicas);
    });
  }

  for (const change of changes) {
    it(`is never replaced for a change of ${Object.keys(change).join()}`, () => {
      const before: Readonly<Record<string, unknown>> = { ...spec() };
      const changedInPlace = ["replicas", "template", "updateStrategy"];
      const differing = Object.entries(spec(change))
        .filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field]))
        .map(([field]) => field)
        .filter((field) => !changedInPlace.includes(field));
      for (const field of differing) assert.ok(fixedSetFields.includes(`spec.${field}`), field);
    });
  }
});

describe("the pods' template", () => {
  const outdating: readonly (readonly [string, Partial<TradingEngineSpecInput>, boolean])[] = [
    ["image", { image: "registry.example.com/engine:2.0.0" }, true],
    ["resources", { resources: { requests: { cpu: "4" } } }, true],
    ["config", { config: { tickSize: "0.1" } }, true],
    ["replicas", { replicas: 5 }, false],
    ["storage", { storage: { size: "40Gi" } }, false],
    ["failoverStrategy", { failoverStrategy: { detectionMilliseconds: 500 } }, false],
    ["deletionPolicy", { deletionPolicy: { volumes: "Delete" } }, false],
    ["paused", { paused: true }, false],
  ];
  for (const [field, change, outdated] of outdating) {
    it(`a change of ${field} ${outdated ? "replaces" : "leaves"} the running pods`, () => {
      const same = JSON.stringify(podTemplate(sampleEngine(change))) === JSON.stringify(podTemplate(sampleEngine()));
      assert.equal(same, !outdated);
    });
  }

  it("carries the hash of the configuration that its pods will read", () => {
    assert.equal(spec().template.metadata.annotations["enginekeeper.dev/config-hash"], configHash(sampleEngine()));
  });
});
