import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { createVirtualClock } from "../../tests/fakeApiServer/virtualClock.ts";
import { loadClusterAccess } from "./access.ts";

const scratch = async (test: TestContext): Promise<string> => {
  const dir = await mkdtemp(join(tmpdir(), "access-"));
  test.after(() => rm(dir, { recursive: true }));
  return dir;
};

const inPod = async (test: TestContext) => {
  const serviceAccountDir = await scratch(test);
  const write = (file: string, text: string) => writeFile(join(serviceAccountDir, file), text);
  await Promise.all([write("token", "first\n"), write("ca.crt", "CA ONE"), write("namespace", "trading\n")]);
  const clock = createVirtualClock();
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "6443" };
  return { serviceAccountDir, write, clock, access: await loadClusterAccess({ env, clock, serviceAccountDir }) };
};

const kubeconfig = (test: TestContext) =>
  scratch(test).then(async (dir) => {
    const file = join(dir, "config");
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    await writeFile(
      file,
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        "current-context": "one",
        clusters: [
          { name: "c1", cluster: { server: "https://one:6443/", "certificate-authority-data": base64("CA ONE") } },
          {
            name: "c2",
            cluster: { server: "https://two/path", "insecure-skip-tls-verify": true, "tls-server-name": "api" },
          },
        ],
        users: [
          { name: "u1", user: { token: "secret" } },
          {
            name: "u2",
            user: { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") },
          },
          { name: "u3", user: { username: "me", password: "pass" } },
        ],
        contexts: [
          { name: "one", context: { cluster: "c1", user: "u1", namespace: "trading" } },
          { name: "two", context: { cluster: "c2", user: "u2" } },
          { name: "three", context: { cluster: "c1", user: "u3" } },
        ],
      }),
    );
    return file;
  });

describe("access from inside a Pod", () => {
  it("is found by the environment and the mounted service account", async (test) => {
    const { access } = await inPod(test);
    assert.equal(access.server, "https://10.0.0.1:6443");
    assert.equal(access.namespace, "trading");
    assert.deepEqual(await access.credentials(), {
      headers: { authorization: "Bearer first" },
      tls: { ca: "CA ONE" },
    });
  });

  it("brackets an IPv6 address", async (test) => {
    const { serviceAccountDir } = await inPod(test);
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1" };
    assert.equal((await loadClusterAccess({ env, serviceAccountDir })).server, "https://[fd00::1]:443");
  });

  it("takes a rotated token and CA after a minute, without a read for each call", async (test) => {
    const { access, clock, write } = await inPod(test);
    await access.credentials();
    await Promise.all([write("token", "second"), write("ca.crt", "CA TWO")]);
    await clock.advance(59_999);
    assert.equal((await access.credentials()).headers["authorization"], "Bearer first");
    await clock.advance(1);
    assert.deepEqual(await access.credentials(), {
      headers: { authorization: "Bearer second" },
      tls: { ca: "CA TWO" },
    });
  });

  it("takes a rotated token at once when the old one was refused", async (test) => {
    const { access, write } = await inPod(test);
    await access.credentials();
    await write("token", "second");
    assert.equal((await access.credentials(true)).headers["authorization"], "Bearer second");
  });

  it("keeps what it has while a file is away in the middle of its rotation, and fails without any", async (test) => {
    const { access, clock, serviceAccountDir } = await inPod(test);
    await access.credentials();
    await rm(join(serviceAccountDir, "token"));
    await clock.advance(60_000);
    assert.equal((await access.credentials()).headers["authorization"], "Bearer first");
    const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1" };
    await assert.rejects((await loadClusterAccess({ env, serviceAccountDir })).credentials(), /ENOENT.*token/);
  });
});

describe("access by a kubeconfig", () => {
  it("takes server, namespace, CA and token of the current context", async (test) => {
    const access = await loadClusterAccess({ kubeconfig: await kubeconfig(test) });
    assert.equal(access.server, "https://one:6443");
    assert.equal(access.namespace, "trading");
    const { headers, tls } = await access.credentials();
    assert.equal(headers["authorization"], "Bearer secret");
    assert.equal(tls.ca, "CA ONE");
  });

  it("takes another context when asked to, also inside a Pod", async (test) => {
    const env = { KUBECONFIG: await kubeconfig(test), KUBERNETES_SERVICE_HOST: "10.0.0.1" };
    const access = await loadClusterAccess({ kubeconfig: env.KUBECONFIG, context: "two", env });
    assert.equal(access.server, "https://two/path");
    assert.equal(access.namespace, undefined);
    const { headers, tls } = await access.credentials();
    assert.equal(headers["authorization"], undefined);
    assert.deepEqual(
      { cert: tls.cert, key: tls.key, rejectUnauthorized: tls.rejectUnauthorized, servername: tls.servername },
      { cert: "CERT", key: "KEY", rejectUnauthorized: false, servername: "api" },
    );
  });

  it("takes user name and password", async (test) => {
    const access = await loadClusterAccess({ kubeconfig: await kubeconfig(test), context: "three" });
    const { headers } = await access.credentials();
    assert.equal(headers["authorization"], `Basic ${Buffer.from("me:pass").toString("base64")}`);
  });

  it("says which contexts there are when the one asked for is not among them", async (test) => {
    const options = { kubeconfig: await kubeconfig(test), context: "four" };
    await assert.rejects(loadClusterAccess(options), /no context "four"; it has: one, two, three/);
  });
});
