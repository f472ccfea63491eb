import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { collections, podNamed, startFakeCluster, until } from "../../tests/fakeApiServer/index.ts";
import { type Change, createInformer, type InformerOptions } from "./informer.ts";
import { type Pod, pods } from "./resource.ts";

const put = (name: string, labels: Readonly<Record<string, string>> = {}) => podNamed(name, labels);

/** An informer on the Pods of a fake cluster, with a protocol of what it told. */
const setUp = async (test: TestContext, options: Partial<InformerOptions<Pod>> = {}) => {
  const cluster = await startFakeCluster(test);
  const informer = createInformer<Pod>({
    client: cluster.client,
    resource: pods,
    namespace: "trading",
    clock: cluster.clock,
    random: () => 0,
    freeze: true,
    ...options,
  });
  const changes: Change<Pod>[] = [];
  informer.onChange((change) => void changes.push(change));
  return { ...cluster, informer, changes };
};

/** `+name` added, `*name` there from the start, `~name` updated, `-name` deleted, `?name` deleted unseen. */
const told = (changes: readonly Change<Pod>[]): string[] =>
  changes.map((change) => {
    const { name } = change.object.metadata;
    switch (change.type) {
      case "added":
        return (change.initial ? "*" : "+") + name;
      case "updated":
        return `~${name}`;
      case "deleted":
        return (change.finalStateUnknown ? "?" : "-") + name;
    }
  });

describe("informer", () => {
  it("has synced only once the list is in the store and the handlers know all of it", async (test) => {
    const { server, informer, changes, signal } = await setUp(test);
    server.store.put(collections.pods, put("a"));
    server.store.put(collections.pods, put("b"));
    informer.start(signal);
    assert.equal(informer.hasSynced(), false);
    await informer.whenSynced();
    assert.deepEqual(told(changes), ["*a", "*b"]);
    assert.equal(informer.store.size, 2);
    await informer.whenSynced();
  });

  it("syncs on an empty collection too", async (test) => {
    const { informer, changes, signal } = await setUp(test);
    informer.start(signal);
    await informer.whenSynced();
    assert.deepEqual(changes, []);
  });

  it("follows additions, changes with old and new state, and deletions, in order", async (test) => {
    const { server, informer, changes, signal } = await setUp(test);
    informer.start(signal);
    await until("the watch", () => server.watches.length === 1);
    server.store.put(collections.pods, put("a", { step: "1" }));
    server.store.put(collections.pods, put("a", { step: "2" }));
    server.store.remove(collections.pods, "trading", "a");
    await until("three changes", () => changes.length === 3);
    assert.deepEqual(told(changes), ["+a", "~a", "-a"]);
    const [, updated] = changes;
    assert.ok(updated?.type === "updated");
    assert.equal(updated.old.metadata.labels?.["step"], "1");
    assert.equal(updated.object.metadata.labels?.["step"], "2");
    assert.equal(informer.store.size, 0);
  });

  it("asks for what it was told to, from the cache first, with bookmarks, for 5 to 10 minutes", async (test) => {
    const { server, informer, signal } = await setUp(test, {
      labelSelector: "a=b",
      fieldSelector: "spec.nodeName=n1",
      random: () => 0.5,
    });
    informer.start(signal);
    await until("the watch", () => server.watches.length === 1);
    const [list, watch] = server.requests.map(({ path }) => new URL(path, "http://fake"));
    assert.equal(list?.pathname, "/api/v1/namespaces/trading/pods");
    assert.deepEqual(Object.fromEntries(list.searchParams), {
      labelSelector: "a=b",
      fieldSelector: "spec.nodeName=n1",
      limit: "500",
      resourceVersion: "0",
      resourceVersionMatch: "NotOlderThan",
    });
    assert.deepEqual(Object.fromEntries(watch?.searchParams ?? []), {
      labelSelector: "a=b",
      fieldSelector: "spec.nodeName=n1",
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: "100",
      timeoutSeconds: "450",
    });
  });

  it("fills in the kind, which lists leave out", async (test) => {
    const { server, informer, signal } = await setUp(test);
    server.store.put(collections.pods, { metadata: { name: "a", namespace: "trading" } });
    informer.start(signal);
    await informer.whenSynced();
    assert.equal(informer.store.get("trading", "a")?.kind, "Pod");
    assert.equal(informer.store.get("trading", "a")?.apiVersion, "v1");
  });

  it("keeps what the transform makes of an object, and finds it by index", async (test) => {
    const { server, informer, changes, signal } = await setUp(test, {
      transform: (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { role: "standby" } } }),
      indexers: { role: (pod) => Object.values(pod.metadata.labels ?? {}) },
    });
    server.store.put(collections.pods, put("a", { role: "primary" }));
    informer.start(signal);
    await informer.whenSynced();
    assert.deepEqual(informer.store.byIndex("role", "standby"), [changes[0]?.object]);
    assert.deepEqual(informer.store.byIndex("role", "primary"), []);
  });

  for (const without of [true, false]) {
    it(`keeps ${without ? "no" : "the"} managedFields, listed or watched`, async (test) => {
      const { server, informer, signal } = await setUp(test, { withoutManagedFields: without });
      const managedFields = [{ manager: "x" }];
      const managed = (name: string) => ({ ...put(name), metadata: { ...put(name).metadata, managedFields } });
      server.store.put(collections.pods, managed("listed"));
      informer.start(signal);
      await informer.whenSynced();
      server.store.put(collections.pods, managed("watched"));
      await until("watched", () => informer.store.size === 2);
      for (const pod of informer.store.list()) {
        assert.deepEqual(pod.metadata.managedFields, without ? undefined : managedFields);
        assert.equal("managedFields" in pod.metadata, !without);
      }
    });
  }

  it("tells a handler that comes later of all that is there, and one that left of nothing", async (test) => {
    const { server, informer, signal } = await setUp(test);
    server.store.put(collections.pods, put("a"));
    informer.start(signal);
    await informer.whenSynced();
    const late: Change<Pod>[] = [];
    const leave = informer.onChange((change) => void late.push(change));
    assert.deepEqual(told(late), ["*a"]);
    leave();
    server.store.put(collections.pods, put("b"));
    await until("b", () => informer.store.size === 2);
    assert.deepEqual(told(late), ["*a"]);
  });

  it("tells of everything again at a resync, as an update to itself", async (test) => {
    const { server, clock, informer, changes, signal } = await setUp(test, { resyncMs: 60_000 });
    server.store.put(collections.pods, put("a"));
    informer.start(signal);
    await informer.whenSynced();
    await clock.advance(60_000);
    assert.deepEqual(told(changes), ["*a", "~a"]);
    const [, resync] = changes;
    assert.ok(resync?.type === "updated" && resync.old === resync.object);
  });

  it("keeps an object as it is when the transform cannot bear it, and all others too", async (test) => {
    const { server, informer, changes, signal } = await setUp(test, {
      transform(pod) {
        if (pod.metadata.name === "bad") throw new Error("a fault of the transform");
        return { ...pod, metadata: { ...pod.metadata, labels: { seen: "yes" } } };
      },
    });
    server.store.put(collections.pods, put("bad"));
    server.store.put(collections.pods, put("good"));
    informer.start(signal);
    await informer.whenSynced();
    assert.deepEqual(told(changes), ["*bad", "*good"]);
    assert.deepEqual(informer.store.get("trading", "bad")?.metadata.labels, {});
    assert.deepEqual(informer.store.get("trading", "good")?.metadata.labels, { seen: "yes" });
  });

  it("goes on with the next object when an indexer cannot bear one", async (test) => {
    const { server, informer, signal } = await setUp(test, {
      indexers: {
        label(pod) {
          if (pod.metadata.name === "bad") throw new Error("a fault of the indexer");
          return ["all"];
        },
      },
    });
    for (const name of ["bad", "good"]) server.store.put(collections.pods, put(name));
    informer.start(signal);
    await informer.whenSynced();
    assert.equal(informer.store.byIndex("label", "all").length, 1);
  });

  it("stops at its signal: watch closed, no timer left", async (test) => {
    const { server, clock, informer } = await setUp(test);
    const stop = new AbortController();
    informer.start(stop.signal);
    await until("the watch", () => server.watches.length === 1);
    stop.abort();
    await until("no open watch", () => server.watches.every((watch) => !watch.open));
    await until("no timer", () => clock.pending === 0);
    assert.equal(informer.lastError, undefined);
  });

  it("refuses to be started twice, instead of making two watches fight", async (test) => {
    const { informer, signal } = await setUp(test);
    informer.start(signal);
    assert.throws(() => informer.start(signal), /started before/);
  });

  it("says why it could not sync when the wait for it ends", async (test) => {
    const { server, informer, signal } = await setUp(test);
    server.fail({ watch: false }, { do: "status", code: 403, reason: "Forbidden" });
    informer.start(signal);
    const waiting = new AbortController();
    const synced = informer.whenSynced(waiting.signal);
    await until("the refusal", () => informer.lastError !== undefined);
    waiting.abort();
    await assert.rejects(synced, /not synced: .*403 Forbidden/);
    await assert.rejects(informer.whenSynced(AbortSignal.abort()), /not synced/);
  });

  it("makes a handler that changes a shared object throw, when freezing is on", async (test) => {
    const { server, informer, signal } = await setUp(test);
    server.store.put(collections.pods, put("a", { a: "b" }));
    informer.start(signal);
    await informer.whenSynced();
    const labels = informer.store.get("trading", "a")?.metadata.labels as Record<string, string>;
    assert.throws(() => {
      labels["a"] = "c";
    }, TypeError);
  });
});
