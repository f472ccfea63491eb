import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { services } from "../kube/index.ts";
import { describeDrift, driftSentence } from "./driftReport.ts";
import { childOf } from "./testing/engineFixture.ts";

const service = (...foreign: readonly object[]) => {
  const { object } = childOf(services, "btc-usdt", { type: "ClusterIP" });
  return {
    ...object,
    metadata: { ...object.metadata, managedFields: [...(object.metadata.managedFields ?? []), ...foreign] },
  };
};
const wrote = (manager: string, time: string, fieldsV1: object) => ({ manager, operation: "Update", time, fieldsV1 });

describe("drift report", () => {
  it("cannot tell who deleted a child", () => {
    const drift = describeDrift("Service/btc-usdt", undefined);
    assert.deepEqual(drift, { child: "Service/btc-usdt", what: "deleted", who: [], fields: [] });
    assert.equal(driftSentence(drift), "Service/btc-usdt was deleted");
  });

  it("names who wrote since our own last write, and what they own", () => {
    const edited = service(
      wrote("kube-controller-manager", "2025-12-31T23:59:00Z", { "f:metadata": { "f:annotations": { "f:x": {} } } }),
      wrote("kubectl-edit", "2026-01-02T00:00:00Z", { "f:spec": { "f:type": {}, "f:externalName": {} } }),
    );
    const drift = describeDrift("Service/btc-usdt", edited);
    assert.deepEqual(drift, {
      child: "Service/btc-usdt",
      what: "changed",
      who: ["kubectl-edit"],
      fields: ["spec.type", "spec.externalName"],
    });
    assert.equal(driftSentence(drift), "Service/btc-usdt was changed by kubectl-edit (spec.type, spec.externalName)");
  });

  it("says no more than that a child was changed when nobody can be named", () => {
    assert.equal(driftSentence(describeDrift("Service/btc-usdt", service())), "Service/btc-usdt was changed");
  });

  it("stays short, whatever was changed", () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f:x${index}`, {}]));
    const { fields } = describeDrift("Service/a", service(wrote("tool", "2026-01-02T00:00:00Z", many)));
    assert.equal(fields.length, 5);
  });
});
