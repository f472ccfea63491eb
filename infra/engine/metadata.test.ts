import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sampleEngine } from "../testing/sampleEngine.ts";
import { configMap } from "./config.ts";
import { controlSecret } from "./controlSecret.ts";
import { disruptionBudget } from "./disruption.ts";
import { childMetadata, podSelector, survivorMetadata } from "./metadata.ts";
import { networkPolicy } from "./network.ts";
import { serviceAccount } from "./serviceAccount.ts";
import { primaryService, replicasService, standbyService } from "./services.ts";
import { statefulSet } from "./statefulSet.ts";

const owned = sampleEngine({}, { owner: { name: "btc-usdt", uid: "4711" } });
const owner = {
  apiVersion: "enginekeeper.dev/v1alpha1",
  kind: "TradingEngine",
  name: "btc-usdt",
  uid: "4711",
  controller: true,
  blockOwnerDeletion: true,
};

describe("metadata of an engine's objects", () => {
  it("names the engine, the manager and the product", () => {
    assert.deepEqual(childMetadata(sampleEngine(), "x").labels, {
      "app.kubernetes.io/name": "trading-engine",
      "app.kubernetes.io/instance": "btc-usdt",
      "app.kubernetes.io/managed-by": "enginekeeper",
      "app.kubernetes.io/part-of": "enginekeeper",
      "enginekeeper.dev/engine": "btc-usdt",
    });
  });

  it("selects pods by labels that never change", () => {
    assert.deepEqual(podSelector(sampleEngine()), podSelector(sampleEngine({ image: "engine:9", replicas: 7 })));
  });

  it("has an owner in managed mode and none in direct mode", () => {
    assert.deepEqual(childMetadata(owned, "x").ownerReferences, [owner]);
    assert.equal(childMetadata(sampleEngine(), "x").ownerReferences, undefined);
  });

  it("has no owner where the object must outlive it", () => {
    assert.equal(survivorMetadata(owned, "x").ownerReferences, undefined);
  });

  for (const [what, object] of [
    ["ConfigMap", configMap(owned)],
    ["Secret", controlSecret(owned, "token")],
    ["ServiceAccount", serviceAccount(owned)],
    ["PodDisruptionBudget", disruptionBudget(owned)],
    ["NetworkPolicy", networkPolicy(owned)],
    ["primary Service", primaryService(owned)],
    ["standby Service", standbyService(owned)],
    ["headless Service", replicasService(owned)],
    ["StatefulSet", statefulSet(owned)],
  ] as const) {
    it(`the ${what} goes with its TradingEngine`, () => {
      assert.deepEqual((object.metadata as { ownerReferences: unknown }).ownerReferences, [owner]);
    });
  }
});

describe("access of an engine", () => {
  it("is none to the Kubernetes API", () => {
    assert.equal(serviceAccount(owned).automountServiceAccountToken, false);
  });

  it("to its control API is by the token in its Secret, under the file name that the pods mount", () => {
    const { type, stringData } = controlSecret(owned, "s3cret");
    assert.deepEqual([type, stringData], ["Opaque", { token: "s3cret" }]);
  });
});
