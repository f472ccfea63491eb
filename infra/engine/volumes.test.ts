import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sampleEngine } from "../testing/sampleEngine.ts";
import { fixedClaimFields, volumeClaim, volumeClaimTemplate } from "./volumes.ts";

const metadata = (claim: ReturnType<typeof volumeClaim>) => claim.metadata as Record<string, unknown>;

const spec = (storage: string, storageClassName?: string) => ({
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage } },
  ...(storageClassName === undefined ? {} : { storageClassName }),
});

describe("the volume of a replica", () => {
  it("has the name by which the StatefulSet controller takes a claim as made: template-set-ordinal", () => {
    const engine = sampleEngine();
    const template = metadata(volumeClaimTemplate(engine))["name"];
    assert.equal(metadata(volumeClaim(engine, 2))["name"], `${String(template)}-btc-usdt-2`);
  });

  it("has the spec's class and size", () => {
    assert.deepEqual(volumeClaim(sampleEngine(), 0).spec, spec("20Gi", "fast"));
  });

  it("leaves the class to the cluster's default when the spec names none", () => {
    assert.deepEqual(volumeClaim(sampleEngine({ storageClassName: undefined }), 0).spec, spec("20Gi"));
  });

  it("belongs to nobody, so that no garbage collector deletes a journal", () => {
    const engine = sampleEngine({}, { owner: { name: "btc-usdt", uid: "4711" } });
    assert.equal(metadata(volumeClaim(engine, 0))["ownerReferences"], undefined);
  });

  it("keeps its shape once it exists; only its own, not its neighbours'", () => {
    const existingVolumes = { 1: { storageClassName: "slow", size: "5Gi" } };
    const engine = sampleEngine({}, { existingVolumes });
    assert.deepEqual(volumeClaim(engine, 1).spec, spec("5Gi", "slow"));
    assert.deepEqual(volumeClaim(engine, 0).spec, spec("20Gi", "fast"));
  });

  it("sets no field that Pulumi would change by deletion, except those that it is told to leave", () => {
    const fields = Object.keys(volumeClaim(sampleEngine(), 0).spec ?? {});
    const replacing = fields.filter((field) => field !== "resources").map((field) => `spec.${field}`);
    assert.deepEqual(replacing.sort(), [...fixedClaimFields].sort());
  });
});

describe("the volume claim template", () => {
  it("makes a deleted claim anew as the spec wants it", () => {
    assert.deepEqual(volumeClaimTemplate(sampleEngine()).spec, spec("20Gi", "fast"));
  });

  it("stays what it is in the live StatefulSet, where it cannot change", () => {
    const engine = sampleEngine({}, { existingVolumeTemplate: { size: "1Gi" } });
    assert.deepEqual(volumeClaimTemplate(engine).spec, spec("1Gi"));
  });
});
