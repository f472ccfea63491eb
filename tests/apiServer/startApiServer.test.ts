import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiAnswer, type ApiClient, connectApiClient } from "./apiClient.ts";
import { removeAbandoned } from "./scratchFolder.ts";
import { type ApiServer, startApiServer } from "./startApiServer.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

const scratchFolders = async () =>
  (await readdir(tmpdir())).filter((name) => name.startsWith(`enginekeeper-apiserver-${process.pid}-`));

describe("API server for tests", () => {
  let server: ApiServer;
  let client: ApiClient;

  before(async () => {
    server = await startApiServer({
      authorization: "RBAC",
      users: [{ name: "guest", groups: ["guests"] }],
      // Old states are then read from etcd, where a compaction ends them.
      flags: ["--watch-cache-sizes=configmaps#0"],
    });
    client = await connectApiClient(server);
  });
  after(async () => {
    await client.close();
    await server.stop();
  });

  it("stores what the administrator sends", async () => {
    assert.equal((await client.call("POST", configMaps, configMap("stored"))).status, 201);
    assert.equal((await client.call("GET", `${configMaps}/stored`)).status, 200);
  });

  it("knows its other users, who have no rights until a role is bound", async () => {
    const token = server.tokenOf("guest");
    assert.ok(token !== undefined);
    const guest = await connectApiClient({ ...server, token });
    assert.equal((await guest.call("GET", configMaps)).status, 403);
    await guest.close();
  });

  it("refuses a token that it did not give out", async () => {
    const stranger = await connectApiClient({ ...server, token: "invented" });
    assert.equal((await stranger.call("GET", configMaps)).status, 401);
    await stranger.close();
  });

  it("gives a kubeconfig of the administrator", async () => {
    const kubeconfig = await readFile(server.kubeconfigPath, "utf8");
    assert.ok(kubeconfig.includes(server.url) && kubeconfig.includes(server.token));
  });

  it("answers nothing while paused, and answers what was asked once resumed", async () => {
    server.pause();
    const answer = client.call("GET", "/readyz");
    assert.equal(await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 500, "silent"))]), "silent");
    server.resume();
    assert.equal((await answer).status, 200);
  });

  it("refuses connections after a crash, and recovers with its data at the same address", async () => {
    await client.call("POST", configMaps, configMap("survivor"));
    await server.crash();
    await assert.rejects(client.call("GET", "/readyz"));
    await server.recover();
    assert.equal((await client.call("GET", `${configMaps}/survivor`)).status, 200);
  });

  it("forgets what was before a compaction, and keeps what is", async () => {
    const versionOf = (answer: ApiAnswer) =>
      (answer.body as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion;
    const old = versionOf(await client.call("POST", configMaps, configMap("old")));
    const present = versionOf(await client.call("POST", configMaps, configMap("present")));
    const exactly = `${configMaps}?limit=1&resourceVersionMatch=Exact&resourceVersion=${old}`;
    assert.equal((await client.call("GET", exactly)).status, 200);
    await server.compact(present);
    assert.equal((await client.call("GET", exactly)).status, 410);
    assert.equal((await client.call("GET", `${configMaps}/old`)).status, 200);
  });

  it("leaves no file behind when stopped, even while paused, and can be stopped twice", async () => {
    const second = await startApiServer();
    second.pause();
    await second.stop();
    await second.stop();
    assert.equal(existsSync(dirname(second.kubeconfigPath)), false);
  });

  it("says why when it cannot start, and leaves nothing behind", async () => {
    const before = await scratchFolders();
    await assert.rejects(startApiServer({ flags: ["--no-such-flag"] }), /kube-apiserver ended.*no-such-flag/s);
    assert.deepEqual(await scratchFolders(), before);
  });

  it("dies with a test process that is killed, and the next start removes the folder", async () => {
    const program = `
      const { startApiServer } = await import(${JSON.stringify(new URL("startApiServer.ts", import.meta.url).href)});
      const { url, kubeconfigPath, caFile, token } = await startApiServer();
      console.log(JSON.stringify({ url, kubeconfigPath, caFile, token }));
      setInterval(() => {}, 1000);`;
    const victim = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface(victim.stdout), "line")) as [string];
    const orphan = JSON.parse(line) as ApiServer;
    const orphanClient = await connectApiClient(orphan);
    assert.equal((await orphanClient.call("GET", "/readyz")).status, 200);

    victim.kill("SIGKILL");
    await once(victim, "exit");
    while (await orphanClient.call("GET", "/readyz").catch(() => false)) await sleep(50);
    await orphanClient.close();

    assert.equal(existsSync(dirname(orphan.kubeconfigPath)), true);
    await removeAbandoned();
    assert.equal(existsSync(dirname(orphan.kubeconfigPath)), false);
  });
});
