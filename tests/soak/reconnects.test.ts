/** What an informer holds must not grow with the number of times it had to come back. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createInformer, pods } from "../../reconciler/kube/index.ts";
import { collections, podNamed, startFakeCluster, until } from "../fakeApiServer/index.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const heapMb = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
};
const descriptors = (): number => readdirSync("/proc/self/fd").length;

describe("informer", () => {
  it("holds sockets, descriptors, timers and heap flat over 10,000 reconnects", async (test) => {
    const { server, client, clock, signal } = await startFakeCluster(test);
    const informer = createInformer({ client, resource: pods, clock });
    informer.start(signal);

    const reconnect = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        await until("an open watch", () => server.watches.at(-1)?.open === true);
        const watch = server.watches.at(-1) ?? assert.fail("no watch");
        const { metadata } = server.store.put(collections.pods, podNamed("pod"));
        const seen = () => informer.store.get("trading", "pod")?.metadata.resourceVersion === metadata.resourceVersion;
        await until("the change", seen);
        if (i % 2 === 0) watch.reset();
        else watch.end();
      }
      await until("an open watch", () => server.watches.at(-1)?.open === true);
      server.forget();
    };

    await reconnect(1_000);
    const before = { heap: heapMb(), descriptors: descriptors(), timers: clock.pending };
    await reconnect(10_000);
    assert.ok(server.openConnections <= 3, `${server.openConnections} connections`);
    assert.ok(descriptors() <= before.descriptors + 4, `${before.descriptors}, then ${descriptors()} descriptors`);
    assert.equal(clock.pending, before.timers);
    const heap = heapMb();
    assert.ok(heap < before.heap + 5, `${before.heap} MB, then ${heap} MB`);
    assert.equal(server.requests.filter((request) => !request.watch).length, 0, "no list but the first");
  });
});
