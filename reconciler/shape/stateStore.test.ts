import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { type FakeCluster, startFakeCluster } from "../../tests/fakeApiServer/index.ts";
import { isConflict } from "../kube/index.ts";
import { type Checkpoint, emptyCheckpoint } from "./checkpoint.ts";
import type { ShapeRecord } from "./shapeRecord.ts";
import { createStateStore, largestState, StateTooLarge } from "./stateStore.ts";

const owner = {
  namespace: "trading",
  engine: "btc-usdt",
  owner: { apiVersion: "enginekeeper.dev/v1alpha1", kind: "TradingEngine", name: "btc-usdt", uid: "uid-of-engine" },
};
const secretsPath = "/api/v1/secrets";
const secretName = "btc-usdt-stack-state";

const stateWith = (content: string): Checkpoint => ({
  version: 3,
  checkpoint: { stack: "organization/p/s", latest: { resources: [{ urn: "u", inputs: { content } }] } },
});
const record: ShapeRecord = {
  wanted: "w",
  children: { "Service/btc-usdt": "h" },
  result: {
    time: "2026-01-01T00:00:00.000Z",
    result: "succeeded",
    reason: "Created",
    durationMs: 1,
    changes: {},
    generation: 1,
  },
};
const next = { checkpoint: stateWith("one"), record, token: "secret token" };

const writes = ({ server }: FakeCluster): readonly string[] =>
  server.requests.filter(({ method }) => method !== "GET").map(({ method }) => method);

describe("state store", () => {
  it("knows nothing of an engine that never ran", async (test) => {
    const { client } = await startFakeCluster(test);
    assert.deepEqual(await createStateStore(client).load("trading", "btc-usdt"), {});
  });

  it("gives back what was saved, from a Secret that goes with the engine", async (test) => {
    const { client, server } = await startFakeCluster(test);
    const store = createStateStore(client);
    const saved = await store.save(owner, next, {});
    assert.deepEqual(await store.load("trading", "btc-usdt"), saved);
    assert.deepEqual([saved.checkpoint, saved.record, saved.token], [next.checkpoint, next.record, next.token]);
    const secret = server.store.get(secretsPath, "trading", secretName);
    assert.deepEqual(secret?.metadata["ownerReferences"], [owner.owner]);
    assert.equal(secret.metadata.labels?.["enginekeeper.dev/engine"], "btc-usdt");
    assert.doesNotMatch(JSON.stringify(secret), /secret token/, "not in clear text");
  });

  it("writes only what changed", async (test) => {
    const cluster = await startFakeCluster(test);
    const store = createStateStore(cluster.client);
    const saved = await store.save(owner, next, {});
    const again = { ...next, record: { ...record, result: { ...record.result, durationMs: 2 } } };
    assert.equal(await store.save(owner, again, saved), saved);
    assert.deepEqual(writes(cluster), ["POST"]);
    await store.save(owner, { ...next, checkpoint: stateWith("two") }, saved);
    assert.deepEqual(writes(cluster), ["POST", "PUT"]);
  });

  it("does not overwrite what another replica saved", async (test) => {
    const { client } = await startFakeCluster(test);
    const [ours, theirs] = [createStateStore(client), createStateStore(client)];
    const saved = await ours.save(owner, next, {});
    await theirs.save(owner, { ...next, checkpoint: stateWith("theirs") }, saved);
    await assert.rejects(ours.save(owner, { ...next, checkpoint: stateWith("ours") }, saved), isConflict);
    assert.deepEqual((await ours.load("trading", "btc-usdt")).checkpoint, stateWith("theirs"));
  });

  it("says why a state cannot be read, and still knows the token; the next save repairs it", async (test) => {
    const { client, server } = await startFakeCluster(test);
    const store = createStateStore(client);
    await store.save(owner, next, {});
    const secret = server.store.get(secretsPath, "trading", secretName);
    assert.ok(secret !== undefined);
    const data = { ...(secret["data"] as object), "checkpoint.json.gz": "H4sI" };
    server.store.put(secretsPath, { ...secret, data });
    const torn = await store.load("trading", "btc-usdt");
    assert.equal(torn.checkpoint, undefined);
    assert.ok((torn.unreadable ?? "") !== "");
    assert.equal(torn.token, "secret token");
    await store.save(owner, next, torn);
    assert.deepEqual((await store.load("trading", "btc-usdt")).checkpoint, next.checkpoint);
  });

  it("says what to do when a state does not fit", async (test) => {
    const cluster = await startFakeCluster(test);
    const incompressible = stateWith(randomBytes(largestState).toString("base64"));
    await assert.rejects(
      createStateStore(cluster.client).save(owner, { ...next, checkpoint: incompressible }, {}),
      (error) => error instanceof StateTooLarge && /keep large files out of spec\.config/.test(error.message),
    );
    assert.deepEqual(writes(cluster), []);
  });

  it("forgets a state, also one that is gone", async (test) => {
    const { client } = await startFakeCluster(test);
    const store = createStateStore(client);
    await store.save(owner, { ...next, checkpoint: emptyCheckpoint("s") }, {});
    await store.remove("trading", "btc-usdt");
    await store.remove("trading", "btc-usdt");
    assert.deepEqual(await store.load("trading", "btc-usdt"), {});
  });
});
