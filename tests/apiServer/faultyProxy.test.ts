/** The client on the real API server, with faults in between; and that a proxy without faults changes nothing. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import {
  configMaps,
  createKubeClient,
  isAlreadyExists,
  isConflict,
  isExpired,
  isNotFound,
  isTimeout,
  type KubeClient,
  leases,
} from "../../reconciler/kube/index.ts";
import { until } from "../fakeApiServer/until.ts";
import { type FaultyProxy, startFaultyProxy } from "./faultyProxy.ts";
import { type ApiServer, startApiServer } from "./startApiServer.ts";

const namespace = "default";
const ref = (name: string) => ({ namespace, name });

let server: ApiServer;
let proxy: FaultyProxy;
let client: KubeClient;

before(async () => {
  // Where nothing is cached, etcd itself answers a list, and compaction shows.
  server = await startApiServer({ flags: ["--watch-cache-sizes=leases.coordination.k8s.io#0"] });
  proxy = await startFaultyProxy(server);
  client = createKubeClient({ access: proxy.access, userAgent: "enginekeeper-test/1" });
});
beforeEach(() => proxy.clearFaults());
after(async () => {
  await client.close();
  await proxy.stop();
  await server.stop();
});

const create = (name: string) => client.create(configMaps, { metadata: ref(name) });
const asked = (method: string) => proxy.requests.filter((request) => request.method === method).length;

describe("proxy in front of a real API server", () => {
  it("passes answers and refusals on as they are", async () => {
    const made = await create("passed");
    assert.deepEqual(await client.get(configMaps, ref("passed")), made);
    await assert.rejects(create("passed"), isAlreadyExists);
    await assert.rejects(client.get(configMaps, ref("absent")), isNotFound);
    const stale = { ...made, metadata: { ...made.metadata, resourceVersion: "1" } };
    await assert.rejects(client.update(configMaps, stale), isConflict);
  });

  it("resets the connections of a server that it cannot reach any more, and finds it again", async () => {
    await proxy.goDown();
    await assert.rejects(client.get(configMaps, ref("passed"), { timeoutMs: 500 }));
    await proxy.comeUp();
    assert.equal((await client.get(configMaps, ref("passed"))).metadata.name, "passed");
  });
});

describe("client, with faults in front of a real API server", () => {
  for (const code of [500, 503, 504]) {
    it(`repeats a read that is answered by ${code}`, async () => {
      proxy.fail({ method: "GET", times: 1 }, { do: "status", code, retryAfterSeconds: 0 });
      assert.equal((await client.get(configMaps, ref("passed"))).metadata.name, "passed");
    });
  }

  it("repeats a write that was refused by 429, and not before the time it names", async () => {
    proxy.fail({ method: "POST", times: 1 }, { do: "status", code: 429, retryAfterSeconds: 1 });
    const before = performance.now();
    await create("throttled");
    assert.ok(performance.now() - before >= 1_000);
  });

  it("does not repeat a write whose answer was lost: the work may be done, and here it is", async () => {
    const before = asked("POST");
    proxy.fail({ method: "POST", times: 1 }, { do: "loseAnswer" });
    await assert.rejects(create("unheard"));
    assert.equal(asked("POST"), before + 1);
    assert.equal((await client.get(configMaps, ref("unheard"))).metadata.name, "unheard");
  });

  for (const fault of ["stall", "stallInBody"] as const) {
    it(`gives up at its deadline when the answer is a ${fault}`, async () => {
      proxy.fail({ method: "GET" }, { do: fault });
      await assert.rejects(client.get(configMaps, ref("passed"), { timeoutMs: 300 }), isTimeout);
    });
  }

  it("says that a list has expired when etcd was compacted between two of its pages", async () => {
    for (let i = 0; i < 3; i++) await client.create(leases, { metadata: ref(`page-${i}`) });
    proxy.fail({ path: "continue=", times: 1 }, { do: "delay", ms: 1_000 });
    const listed = client.list(leases, { namespace, pageSize: 1 });
    const expired = assert.rejects(listed, isExpired);
    await until("the second page", () => proxy.requests.at(-1)?.path.includes("continue=") === true);
    const { metadata } = await create("after-the-first-page");
    await server.compact(metadata.resourceVersion);
    await expired;
  });
});
