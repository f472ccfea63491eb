import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { finalizer } from "../../api/names.ts";
import { startFakeCluster } from "../../tests/fakeApiServer/index.ts";
import { addFinalizer, removeFinalizer } from "./finalizer.ts";
import { engineWith } from "./testing/engineFixture.ts";

const collection = "/apis/enginekeeper.dev/v1alpha1/tradingengines";

const start = async (test: TestContext, finalizers?: readonly string[]) => {
  const { client, server } = await startFakeCluster(test);
  const { metadata } = engineWith({}, finalizers === undefined ? {} : { finalizers });
  server.store.put(collection, { metadata });
  return { client, server, metadata, stored: () => server.store.get(collection, "trading", "btc-usdt")?.metadata };
};

describe("finalizer", () => {
  it("is put beside those of others, and only on the very object that was read", async (test) => {
    const { client, server, metadata, stored } = await start(test, ["example.com/other"]);
    await addFinalizer(client, metadata);
    assert.deepEqual(stored()?.["finalizers"], ["example.com/other", finalizer]);
    const [request] = server.requests.filter(({ method }) => method === "PATCH");
    const { uid, resourceVersion } = metadata;
    const body = JSON.parse(request?.body ?? "") as unknown;
    assert.deepEqual(body, { metadata: { uid, resourceVersion, finalizers: ["example.com/other", finalizer] } });
  });

  it("is put on an engine that has none", async (test) => {
    const { client, metadata, stored } = await start(test);
    await addFinalizer(client, metadata);
    assert.deepEqual(stored()?.["finalizers"], [finalizer]);
  });

  it("is taken off alone", async (test) => {
    const { client, metadata, stored } = await start(test, [finalizer, "example.com/other"]);
    await removeFinalizer(client, metadata);
    assert.deepEqual(stored()?.["finalizers"], ["example.com/other"]);
  });

  it("costs no request where it is as it should be", async (test) => {
    const having = await start(test, [finalizer]);
    await addFinalizer(having.client, having.metadata);
    const lacking = await start(test);
    await removeFinalizer(lacking.client, lacking.metadata);
    assert.deepEqual([...having.server.requests, ...lacking.server.requests], []);
  });
});
