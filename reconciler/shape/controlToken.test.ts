import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startFakeCluster } from "../../tests/fakeApiServer/index.ts";
import { ApiError } from "../kube/index.ts";
import { controlTokenOf } from "./controlToken.ts";

const engine = { namespace: "trading", name: "btc-usdt" };
const zeros = (size: number): Buffer => Buffer.alloc(size);
const secretNamed = (token: string | undefined) => ({
  metadata: { name: "btc-usdt-control", namespace: "trading" },
  data: token === undefined ? {} : { token: Buffer.from(token).toString("base64") },
});

describe("controlTokenOf", () => {
  it("keeps the stored token, whatever the Secret says", async (test) => {
    const { client, server } = await startFakeCluster(test);
    server.store.put("/api/v1/secrets", secretNamed("edited"));
    assert.equal(await controlTokenOf(client, engine, "stored", zeros), "stored");
  });

  it("takes over the token of an engine whose state was lost", async (test) => {
    const { client, server } = await startFakeCluster(test);
    server.store.put("/api/v1/secrets", secretNamed("live\n"));
    assert.equal(await controlTokenOf(client, engine, undefined, zeros), "live");
  });

  it("makes a new one of 32 random bytes where there is none", async (test) => {
    const { client, server } = await startFakeCluster(test);
    const made = await controlTokenOf(client, engine, undefined, zeros);
    assert.equal(made, Buffer.alloc(32).toString("base64url"));
    server.store.put("/api/v1/secrets", secretNamed(undefined));
    assert.equal(await controlTokenOf(client, engine, undefined, zeros), made);
  });

  it("makes none while it cannot know", async (test) => {
    const { client, server } = await startFakeCluster(test);
    server.fail({ method: "GET" }, { do: "status", code: 403, reason: "Forbidden" });
    await assert.rejects(controlTokenOf(client, engine, undefined, zeros), ApiError);
  });
});
