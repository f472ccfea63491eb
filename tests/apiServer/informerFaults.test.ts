/** The faults that other informers are known to fall to, on the real API server behind a proxy that inflicts them. */
import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  configMaps,
  createInformer,
  createKubeClient,
  type KubeClient,
  leases,
  loadClusterAccess,
  namespaces,
} from "../../reconciler/kube/index.ts";
import { until } from "../fakeApiServer/until.ts";
import { createVirtualClock } from "../fakeApiServer/virtualClock.ts";
import type { FaultyCluster } from "../informerFaults/faultyCluster.ts";
import { describeListFaults } from "../informerFaults/listFaults.ts";
import { describeWatchFaults } from "../informerFaults/watchFaults.ts";
import { startFaultyProxy } from "./faultyProxy.ts";
import { type ApiServer, startApiServer } from "./startApiServer.ts";

const userAgent = "enginekeeper-test/1";
/** Of real time, for each step of the virtual one: an event may come from the API server without being asked for. */
const eventMs = 1;

let server: ApiServer;
/** Past the proxy. */
let direct: KubeClient;
let clusters = 0;

before(async () => {
  // Where nothing is cached, etcd itself answers a watch, and compaction shows.
  server = await startApiServer({ flags: ["--watch-cache-sizes=leases.coordination.k8s.io#0"] });
  direct = createKubeClient({ access: await loadClusterAccess({ kubeconfig: server.kubeconfigPath }), userAgent });
});

after(async () => {
  await direct.close();
  await server.stop();
});

/** The real API server behind a proxy of its own, with a client on it, in a new namespace. */
const startCluster = async (test: TestContext): Promise<FaultyCluster> => {
  const proxy = await startFaultyProxy(server);
  const clock = createVirtualClock({
    async settled() {
      await proxy.settled();
      await sleep(eventMs);
    },
  });
  const client = createKubeClient({ access: proxy.access, userAgent, clock });
  const ended = new AbortController();
  test.after(async () => {
    ended.abort();
    await client.close();
    await proxy.stop();
  });
  const namespace = `faults-${++clusters}`;
  await direct.create(namespaces, { metadata: { name: namespace } });

  /** Lists are served from a cache, which may lag behind what was written. */
  const whenListed = async (): Promise<void> => {
    const { metadata } = await direct.list(configMaps, { namespace });
    await direct.list(configMaps, { namespace, resourceVersion: metadata.resourceVersion });
  };
  return {
    server: proxy,
    client,
    clock,
    signal: ended.signal,
    namespace,
    async put(name, step = 0) {
      const data = { step: String(step) };
      await direct.apply(configMaps, { metadata: { namespace, name }, data }, { manager: "test" });
      await whenListed();
    },
    async remove(name) {
      await direct.delete(configMaps, { namespace, name });
      await whenListed();
    },
  };
};

describeWatchFaults(startCluster);
describeListFaults(startCluster);

describe("informer, when etcd was compacted", () => {
  it("lists anew on the API server's own 410, and tells what it missed", async (test) => {
    const { server: proxy, client, clock, signal, namespace } = await startCluster(test);
    const write = (name: string) => direct.create(leases, { metadata: { namespace, name } });
    await write("first");
    const causes: string[] = [];
    const changes: string[] = [];
    const informer = createInformer({
      client,
      resource: leases,
      namespace,
      clock,
      logger: { warn: (fields) => void causes.push(kindOf(fields)), error: () => assert.fail("an error") },
    });
    informer.onChange((change) => void changes.push(`${change.type} ${change.object.metadata.name}`));
    informer.start(signal);
    await until("the first watch", () => informer.hasSynced() && proxy.watches.length === 1);

    proxy.watches[0]?.goSilent();
    await write("second");
    await direct.delete(leases, { namespace, name: "first" });
    const { metadata } = await write("third");
    await server.compact(metadata.resourceVersion);
    // A watch that is cut within a second is met by a list anyway.
    await clock.advance(1_000);
    proxy.watches[0]?.reset();
    await clock.advanceUntil("all changes", () => changes.length === 4);
    assert.deepEqual(changes, ["added first", "deleted first", "added second", "added third"]);
    assert.ok(causes.includes("expired"), causes.join());
    assert.equal(proxy.requests.filter((request) => !request.watch).length, 2);
  });
});

const kindOf = (fields: object): string =>
  "err" in fields && typeof fields.err === "object" && fields.err !== null && "kind" in fields.err
    ? String(fields.err.kind)
    : "unknown";
