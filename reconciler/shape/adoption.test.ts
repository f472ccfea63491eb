import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { labels } from "../../api/names.ts";
import { startFakeCluster } from "../../tests/fakeApiServer/index.ts";
import { ApiError } from "../kube/index.ts";
import { foreignChildren } from "./adoption.ts";
import { engineWith, namespace } from "./testing/engineFixture.ts";

const object = (name: string, objectLabels: Readonly<Record<string, string>> = {}) => ({
  metadata: { name, namespace, labels: objectLabels },
});
const ours = { [labels.engine]: "btc-usdt" };

describe("foreignChildren", () => {
  it("finds none where nothing stands", async (test) => {
    const { client } = await startFakeCluster(test);
    assert.deepEqual(await foreignChildren(client, engineWith()), []);
  });

  it("takes what carries the engine's label for the engine's, whoever made it", async (test) => {
    const { client, server } = await startFakeCluster(test);
    server.store.put("/apis/apps/v1/statefulsets", object("btc-usdt", ours));
    server.store.put("/api/v1/persistentvolumeclaims", object("data-btc-usdt-0", ours));
    assert.deepEqual(await foreignChildren(client, engineWith()), []);
  });

  it("names what belongs to others, and only where a child belongs", async (test) => {
    const { client, server } = await startFakeCluster(test);
    server.store.put("/api/v1/services", object("btc-usdt", { app: "shop" }));
    server.store.put("/api/v1/services", object("elsewhere"));
    server.store.put("/api/v1/configmaps", object("btc-usdt-config", { [labels.engine]: "another" }));
    server.store.put("/api/v1/persistentvolumeclaims", object("data-btc-usdt-2"));
    server.store.put("/api/v1/persistentvolumeclaims", object("data-btc-usdt-3"));
    assert.deepEqual(await foreignChildren(client, engineWith({ replicas: 3 })), [
      "Service/btc-usdt",
      "ConfigMap/btc-usdt-config",
      "PersistentVolumeClaim/data-btc-usdt-2",
    ]);
  });

  it("claims nothing while it cannot know", async (test) => {
    const { client, server } = await startFakeCluster(test);
    server.fail({ path: "networkpolicies" }, { do: "status", code: 403, reason: "Forbidden" });
    await assert.rejects(foreignChildren(client, engineWith()), ApiError);
  });
});
