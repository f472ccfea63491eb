import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TradingEngineSpecInput } from "../../api/tradingEngine/index.ts";
import { persistentVolumeClaims, services, statefulSets } from "../kube/index.ts";
import type { Child } from "./childWatch.ts";
import { childOf, engineWith } from "./testing/engineFixture.ts";
import { wantedShape } from "./wantedShape.ts";

const context = { operatorNamespace: "enginekeeper-system", programVersion: "v1" };
const spec = { storageClassName: "fast", storage: { size: "20Gi" } } satisfies Partial<TradingEngineSpecInput>;

const wanted = (change: Partial<TradingEngineSpecInput> = {}, children: readonly Child[] = [], metadata: object = {}) =>
  wantedShape(engineWith({ ...spec, ...change }, metadata), children, context);

const claimSpec = (storageClassName: string, storage: string) => ({
  storageClassName,
  resources: { requests: { storage } },
});
const unbound = (name: string, className = "fast", size = "20Gi"): Child =>
  childOf(persistentVolumeClaims, name, claimSpec(className, size));
/** The volume's name is the binder's, so no field of ours. */
const bound = (name: string, className = "fast", size = "20Gi"): Child => {
  const child = unbound(name, className, size);
  return { ...child, object: { ...child.object, ...{ spec: { ...claimSpec(className, size), volumeName: "pv" } } } };
};
const set = (storageClassName: string, size: string): Child =>
  childOf(statefulSets, "btc-usdt", { volumeClaimTemplates: [{ spec: claimSpec(storageClassName, size) }] });

describe("wantedShape", () => {
  it("is the same as long as nothing that matters changes", () => {
    const first = wanted();
    const children = [set("fast", "20Gi"), bound("data-btc-usdt-0"), unbound("data-btc-usdt-1")];
    assert.equal(wanted({}, children).hash, first.hash, "volumes as the spec wants them");
    assert.equal(wanted({}, [childOf(services, "foreign")]).hash, first.hash);
    assert.equal(wanted({}, [], { resourceVersion: "99", generation: 5, annotations: { a: "b" } }).hash, first.hash);
    assert.equal(wanted({ paused: true }).hash, first.hash, "pausing is no change of the shape");
  });

  const reasons: readonly [string, () => string][] = [
    ["the spec", () => wanted({ image: "registry.example.com/engine:2.0" }).hash],
    ["the engine's uid", () => wanted({}, [], { uid: "another" }).hash],
    ["the program", () => wantedShape(engineWith(spec), [], { ...context, programVersion: "v2" }).hash],
    ["the operator's namespace", () => wantedShape(engineWith(spec), [], { ...context, operatorNamespace: "o" }).hash],
    ["a bound volume's size", () => wanted({}, [bound("data-btc-usdt-0", "fast", "30Gi")]).hash],
  ];
  for (const [what, hash] of reasons) {
    it(`is another with ${what}`, () => assert.notEqual(hash(), wanted().hash));
  }

  it("never lets a run delete a volume, whatever is to become of it with the engine", () => {
    const { program } = wanted({ deletionPolicy: { volumes: "Delete" } });
    assert.equal(program.spec.deletionPolicy.volumes, "Retain");
  });

  it("gives bound volumes and the live claim template what they have", () => {
    const { program } = wanted({ storage: { size: "10Gi" } }, [set("fast", "20Gi"), bound("data-btc-usdt-1")]);
    assert.deepEqual(program.volumes, { 1: { storageClassName: "fast", size: "20Gi" } });
    assert.deepEqual(program.volumeTemplate, { storageClassName: "fast", size: "20Gi" });
  });

  it("finds claims that must be made anew, among the engine's own", () => {
    const { obsoleteClaims } = wanted({}, [
      unbound("data-btc-usdt-0", "slow"),
      unbound("data-btc-usdt-1"),
      unbound("data-btc-usdt-x", "slow"),
      unbound("other-btc-usdt-2", "slow"),
      bound("data-btc-usdt-2", "slow"),
    ]);
    assert.deepEqual(
      obsoleteClaims.map(({ name, ordinal }) => [name, ordinal]),
      [["data-btc-usdt-0", 0]],
    );
  });

  it("takes a claim that the StatefulSet controller made for one of its template's class", () => {
    const made = unbound("data-btc-usdt-0", "slow");
    const child = { ...made, object: { ...made.object, metadata: { ...made.object.metadata, managedFields: [] } } };
    const names = (children: readonly Child[]) =>
      wantedShape(engineWith({ storage: spec.storage }), children, context).obsoleteClaims.map(({ name }) => name);
    assert.deepEqual(names([set("slow", "20Gi"), child]), ["data-btc-usdt-0"], "asked for by the template");
    assert.deepEqual(names([child]), [], "filled in as the default");
  });
});
