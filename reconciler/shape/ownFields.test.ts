import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { KubeObject, ManagedFields } from "../kube/index.ts";
import { foreignOwners, ownFields } from "./ownFields.ts";

const us = "enginekeeper-shape";

const applied = (fieldsV1: unknown): ManagedFields => ({ manager: us, operation: "Apply", fieldsV1 });
const written = (manager: string, fieldsV1: unknown, more: Partial<ManagedFields> = {}): ManagedFields => ({
  manager,
  operation: "Update",
  fieldsV1,
  ...more,
});

const object = (content: object, ...managedFields: readonly ManagedFields[]): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  ...content,
  metadata: {
    name: "btc-usdt",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
    managedFields,
    ...("metadata" in content ? (content.metadata as object) : {}),
  },
});

describe("ownFields", () => {
  it("is undefined for an object that we never applied", () => {
    assert.equal(ownFields(object({ spec: { type: "ClusterIP" } }), us), undefined);
    assert.equal(ownFields(object({}, written(us, { "f:spec": {} })), us), undefined, "an Update is not an Apply");
  });

  it("holds the values that we applied and no others", () => {
    const service = object(
      { spec: { type: "ClusterIP", clusterIP: "10.0.0.1" }, status: { loadBalancer: {} } },
      applied({ "f:spec": { "f:type": {} } }),
    );
    assert.deepEqual(ownFields(service, us), { spec: { type: "ClusterIP" } });
  });

  it("finds list items by their keys, wherever they are in the list", () => {
    const port = '{"port":7000,"protocol":"TCP"}';
    const service = object(
      {
        spec: {
          ports: [
            { port: 9, protocol: "TCP", name: "foreign" },
            { port: 7000, protocol: "TCP", name: "orders", nodePort: 30_000 },
          ],
        },
      },
      applied({ "f:spec": { "f:ports": { [`k:${port}`]: { ".": {}, "f:name": {}, "f:port": {} } } } }),
    );
    assert.deepEqual(ownFields(service, us), {
      spec: { ports: { [`k:${port}`]: { name: "orders", port: 7000 } } },
    });
  });

  it("finds members of sets and items by index", () => {
    const claim = object(
      { metadata: { finalizers: ["a", "b"] }, spec: { accessModes: ["ReadWriteOnce"], list: [{ x: 1 }, { x: 2 }] } },
      applied({
        "f:metadata": { "f:finalizers": { 'v:"b"': {} } },
        "f:spec": { "f:accessModes": {}, "f:list": { "i:1": { "f:x": {} } } },
      }),
    );
    assert.deepEqual(ownFields(claim, us), {
      metadata: { finalizers: { 'v:"b"': "b" } },
      spec: { accessModes: ["ReadWriteOnce"], list: { "i:1": { x: 2 } } },
    });
  });

  it("leaves to others what they put into an object that we applied empty", () => {
    const pod = object(
      { spec: { emptyDir: { sizeLimit: "1Gi" }, securityContext: {} } },
      applied({ "f:spec": { "f:emptyDir": {}, "f:securityContext": {} } }),
      written("kubectl-edit", { "f:spec": { "f:emptyDir": { "f:sizeLimit": {} } } }),
    );
    assert.deepEqual(ownFields(pod, us), { spec: { emptyDir: {}, securityContext: {} } });
  });

  it("changes when another manager takes a field over, and when the field is removed", () => {
    const before = object(
      { spec: { replicas: 3, type: "x" } },
      applied({ "f:spec": { "f:replicas": {}, "f:type": {} } }),
    );
    const scaled = object(
      { spec: { replicas: 5, type: "x" } },
      applied({ "f:spec": { "f:type": {} } }),
      written("kubectl", { "f:spec": { "f:replicas": {} } }, { subresource: "scale" }),
    );
    assert.notDeepEqual(ownFields(scaled, us), ownFields(before, us));
    const removed = object({ spec: { type: "x" } }, applied({ "f:spec": { "f:type": {} } }));
    assert.deepEqual(ownFields(removed, us), ownFields(scaled, us));
  });

  it("never changes by what others write beside it", () => {
    const name = fc.stringMatching(/^[a-z]{1,6}$/);
    const content = fc.dictionary(
      name,
      fc.oneof(fc.integer(), fc.string(), fc.dictionary(name, fc.integer(), { noNullPrototype: true })),
      {
        minKeys: 1,
        noNullPrototype: true,
      },
    );
    fc.assert(
      fc.property(content, content, (own, foreign) => {
        const ours = applied({ "f:spec": fieldsOf(own) });
        const theirs = Object.fromEntries(Object.entries(foreign).filter(([key]) => !(key in own)));
        const before = object({ spec: own }, ours);
        const after = object({ spec: { ...theirs, ...own } }, ours, written("other", { "f:spec": fieldsOf(theirs) }));
        assert.deepEqual(ownFields(after, us), ownFields(before, us));
        assert.deepEqual(ownFields(before, us), { spec: own });
      }),
    );
  });

  it("takes any rubbish in managedFields without failing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (fields, content) => {
        ownFields(object({ spec: content }, applied(fields)), us);
      }),
    );
  });
});

/** The fieldsV1 of a manager that applied exactly `value`. */
const fieldsOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [`f:${key}`, fieldsOf(inner)]))
    : {};

describe("foreignOwners", () => {
  it("names the other managers with their paths, newest first, without status", () => {
    const service = object(
      {},
      applied({ "f:spec": { "f:type": {} } }),
      written(
        "kubectl-edit",
        { "f:spec": { "f:ports": { 'k:{"port":7}': { ".": {}, "f:name": {} } } } },
        { time: "1" },
      ),
      written("kube-controller-manager", { "f:status": {} }, { time: "3", subresource: "status" }),
      written("helm", { "f:spec": { "f:type": {} } }, { time: "2" }),
    );
    assert.deepEqual(foreignOwners(service, us), [
      { who: "helm", time: "2", fields: ["spec.type"] },
      { who: "kubectl-edit", time: "1", fields: ['spec.ports[{"port":7}].name'] },
    ]);
  });
});
