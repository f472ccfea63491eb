/** The faults that other informers are known to fall to, on the fake API server. */
import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { collections, type FakeCluster, podNamed, startFakeCluster, until } from "../../tests/fakeApiServer/index.ts";
import { type FaultyCluster, setUpInformer } from "../../tests/informerFaults/faultyCluster.ts";
import { describeListFaults } from "../../tests/informerFaults/listFaults.ts";
import { describeWatchFaults } from "../../tests/informerFaults/watchFaults.ts";

const namespace = "trading";

const onFake = (cluster: FakeCluster): Promise<FaultyCluster> => {
  const { store } = cluster.server;
  return Promise.resolve({
    ...cluster,
    namespace,
    put(name, step = 0) {
      store.put(collections.configMaps, { metadata: { name, namespace }, data: { step: String(step) } });
      return Promise.resolve();
    },
    remove(name) {
      store.remove(collections.configMaps, namespace, name);
      return Promise.resolve();
    },
  });
};
const startCluster = async (test: TestContext) => onFake(await startFakeCluster(test));

describeWatchFaults(startCluster);
describeListFaults(startCluster);

describe("informer, when the history is compacted", () => {
  it("watches on from the last bookmark, so that a quiet kind outlives it", async (test) => {
    const fake = await startFakeCluster(test);
    const { store } = fake.server;
    const { server, clock, start, put, has, lists, lastWatch } = await setUpInformer(test, () => onFake(fake));
    await start();
    store.put(collections.pods, podNamed("other"));
    lastWatch().bookmark();
    store.compact();
    await clock.advance(1_000);
    lastWatch().end();
    await until("the next watch", () => server.watches.length === 2);
    await put("second");
    await until("second", has("second"));
    assert.equal(lists(), 1);
  });
});
