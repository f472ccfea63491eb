/** The Kubernetes library on the real API server: what the fake one cannot vouch for. */
import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import {
  type Change,
  type ConfigMap,
  configMaps,
  createEventRecorder,
  createInformer,
  createKubeClient,
  events,
  type InformerOptions,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isTimeout,
  type KubeClient,
  loadClusterAccess,
  pods,
} from "../../reconciler/kube/index.ts";
import { until } from "../fakeApiServer/until.ts";
import { type ApiServer, startApiServer } from "./startApiServer.ts";

const namespace = "default";
const userAgent = "enginekeeper-test/1";
const ref = (name: string) => ({ namespace, name });

let server: ApiServer;
let client: KubeClient;

before(async () => {
  server = await startApiServer({ authorization: "RBAC", users: [{ name: "guest", groups: ["guests"] }] });
  client = createKubeClient({ access: await loadClusterAccess({ kubeconfig: server.kubeconfigPath }), userAgent });
});

after(async () => {
  await client.close();
  await server.stop();
});

const create = (name: string, data: Readonly<Record<string, string>> = {}) =>
  client.create(configMaps, { metadata: { ...ref(name), labels: { test: name.split("-")[0] ?? "" } }, data });

describe("client on a real API server", () => {
  it("creates, reads, and replaces only the version that was read", async () => {
    const made = await create("cas", { a: "1" });
    const read = await client.get(configMaps, ref("cas"));
    assert.deepEqual(read, made);
    await client.update(configMaps, { ...read, data: { a: "2" } });
    await assert.rejects(client.update(configMaps, { ...read, data: { a: "3" } }), isConflict);
    await assert.rejects(create("cas"), isAlreadyExists);
  });

  it("deletes only the object it means", async () => {
    const first = await create("again");
    await client.delete(configMaps, ref("again"), { uid: first.metadata.uid });
    const second = await create("again");
    await assert.rejects(client.delete(configMaps, ref("again"), { uid: first.metadata.uid }), isConflict);
    const stale = { uid: second.metadata.uid, resourceVersion: first.metadata.resourceVersion };
    await assert.rejects(client.delete(configMaps, ref("again"), stale), isConflict);
    await client.delete(configMaps, ref("again"), { ...stale, resourceVersion: second.metadata.resourceVersion });
    await assert.rejects(client.get(configMaps, ref("again")), isNotFound);
  });

  it("applies, names the other manager in a conflict, and gives a field up by leaving it out", async () => {
    const metadata = ref("applied");
    await client.apply(configMaps, { metadata, data: { a: "1", b: "1" } }, { manager: "one" });
    const taken = { metadata, data: { a: "2" } };
    await assert.rejects(client.apply(configMaps, taken, { manager: "two" }), (error: unknown) => {
      assert.ok(isConflict(error));
      assert.match(error.message, /conflict with "one"/);
      assert.deepEqual(
        error.details?.causes?.map((cause) => cause.field),
        [".data.a"],
      );
      return true;
    });
    const forced = await client.apply(configMaps, taken, { manager: "two", force: true });
    assert.deepEqual(forced.data, { a: "2", b: "1" });
    const left = await client.apply(configMaps, { metadata, data: {} }, { manager: "one" });
    assert.deepEqual(left.data, { a: "2" });
  });

  it("patches by merge and by JSON patch with its test", async () => {
    await create("patched", { a: "1" });
    const merged = await client.patch(configMaps, ref("patched"), { data: { b: "2" } }, { type: "merge" });
    assert.deepEqual(merged.data, { a: "1", b: "2" });
    const guarded = [
      { op: "test", path: "/data/a", value: "other" },
      { op: "remove", path: "/data/a" },
    ];
    await assert.rejects(client.patch(configMaps, ref("patched"), guarded, { type: "json" }), isInvalid);
  });

  it("writes the status of a Pod by apply on its subresource", async () => {
    const containers = [{ name: "engine", image: "engine" }];
    await client.create(pods, { metadata: ref("pod"), spec: { containers } });
    const applied = await client.apply(
      pods,
      { metadata: ref("pod"), status: { message: "by the test" } },
      { manager: "status", subresource: "status" },
    );
    assert.equal(applied.status?.message, "by the test");
  });

  it("says in words which field is wrong, and who may not", async () => {
    const bad = { metadata: { ...ref("bad"), labels: { "a b": "c" } } };
    await assert.rejects(client.create(configMaps, bad), (error: unknown) => {
      assert.ok(isInvalid(error));
      assert.match(error.message, /metadata\.labels/);
      return true;
    });
    const admin = await loadClusterAccess({ kubeconfig: server.kubeconfigPath });
    const { tls } = await admin.credentials();
    const headers = { authorization: `Bearer ${server.tokenOf("guest")}` };
    const access = { ...admin, credentials: () => Promise.resolve({ headers, tls }) };
    const guest = createKubeClient({ access, userAgent });
    await assert.rejects(guest.list(configMaps, { namespace }), (error: unknown) => {
      assert.ok(isForbidden(error));
      assert.match(error.message, /User "guest" cannot list resource "configmaps"/);
      return true;
    });
    await guest.close();
  });

  it("lists page by page all there is at one moment", async () => {
    await Promise.all(Array.from({ length: 25 }, (_, i) => create(`page-${i}`)));
    const list = await client.list(configMaps, { namespace, labelSelector: "test=page", pageSize: 10 });
    assert.equal(list.items.length, 25);
    assert.ok(list.items.every((item) => item.kind === "ConfigMap" && item.apiVersion === "v1"));
  });

  it("records an event and makes a series of it, as the API server's validation demands", async () => {
    const regarding = await create("told");
    const recorder = createEventRecorder({ client, component: "enginekeeper.dev/test", instance: "test-0" });
    const input = { regarding, type: "Normal", reason: "Told", action: "Test", note: "by the test" } as const;
    recorder.event(input);
    const told = async () => (await client.list(events, { namespace })).items.find((item) => item.reason === "Told");
    while ((await told()) === undefined);
    recorder.event(input);
    await recorder.stop();
    const { series } = (await told()) ?? assert.fail("no event");
    assert.equal(series?.count, 2);
  });
});

describe("informer on a real API server", () => {
  const follow = async (test: TestContext, options: Partial<InformerOptions<ConfigMap>> = {}) => {
    const stop = new AbortController();
    test.after(() => stop.abort());
    const informer = createInformer({ client, resource: configMaps, namespace, freeze: true, ...options });
    const changes: string[] = [];
    informer.onChange(
      (change: Change<ConfigMap>) => void changes.push(`${change.type} ${change.object.metadata.name}`),
    );
    informer.start(stop.signal);
    await informer.whenSynced(AbortSignal.timeout(20_000));
    return { informer, changes };
  };

  it("follows what a selector picks", async (test) => {
    await create("chosen-1");
    const { changes } = await follow(test, { labelSelector: "test=chosen" });
    await create("ignored-1");
    const made = await create("chosen-2");
    await client.update(configMaps, { ...made, data: { a: "2" } });
    await client.delete(configMaps, ref("chosen-1"));
    await until("four changes", () => changes.length === 4);
    assert.deepEqual(changes, ["added chosen-1", "added chosen-2", "updated chosen-2", "deleted chosen-1"]);
  });

  it("misses nothing while the API server is killed and comes back", async (test) => {
    await create("crash-1");
    const { informer, changes } = await follow(test, { labelSelector: "test=crash" });
    await server.crash();
    await until("the failure", () => informer.lastError !== undefined);
    await server.recover();
    await create("crash-2");
    await client.delete(configMaps, ref("crash-1"));
    await until("both changes", () => changes.length === 3);
    assert.deepEqual(changes.toSorted(), ["added crash-1", "added crash-2", "deleted crash-1"]);
    assert.equal(informer.store.size, 1);
  });

  it("finds out by silence that the API server is frozen, and catches up after the thaw", async (test) => {
    const { informer, changes } = await follow(test, { labelSelector: "test=frozen", inactivityMs: 2_000 });
    await create("frozen-1");
    await until("the open watch", () => changes.length === 1);
    server.pause();
    await until("the silence", () => informer.lastError !== undefined);
    assert.match(informer.lastError?.message ?? "", /nothing heard for 2000 ms/);
    await assert.rejects(client.get(configMaps, ref("any"), { timeoutMs: 500 }), isTimeout);
    server.resume();
    await create("frozen-2");
    await until("the change", () => changes.length === 2);
  });
});
