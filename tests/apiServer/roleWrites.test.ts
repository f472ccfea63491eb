import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { labels } from "../../api/names.ts";
import { createKubeRoleWrites } from "../../reconciler/act/kubeRoleWrites.ts";
import { createKubeClient, type KubeClient, loadClusterAccess, type Pod, pods } from "../../reconciler/kube/index.ts";
import { type ApiServer, startApiServer } from "./startApiServer.ts";

const namespace = "default";
const engine = { namespace, name: "btc-usdt" };

describe("the role lane's writes, on a real API server", () => {
  let server: ApiServer;
  let client: KubeClient;

  const createPod = (name: string): Promise<Pod> =>
    client.create(pods, {
      metadata: { namespace, name, labels: { [labels.engine]: engine.name } },
      spec: { containers: [{ name: "engine", image: "none" }], automountServiceAccountToken: false },
    });
  const roleOf = async (name: string): Promise<string | undefined> =>
    (await client.get(pods, { namespace, name })).metadata.labels?.[labels.role];

  before(async () => {
    server = await startApiServer();
    client = createKubeClient({
      access: await loadClusterAccess({ kubeconfig: server.kubeconfigPath }),
      userAgent: "enginekeeper-test",
    });
  });
  after(async () => {
    await client.close();
    await server.stop();
  });

  it("label the pod that is meant, and leave its other labels alone", async () => {
    const pod = await createPod("btc-usdt-0");
    await createKubeRoleWrites(client, engine, "owner").labelRole(
      { name: "btc-usdt-0", uid: pod.metadata.uid },
      "primary",
    );
    assert.equal(await roleOf("btc-usdt-0"), "primary");
    assert.equal(
      (await client.get(pods, { namespace, name: "btc-usdt-0" })).metadata.labels?.[labels.engine],
      "btc-usdt",
    );
  });

  it("give no role to a new pod of the same name, and take its predecessor for gone", async () => {
    const first = await createPod("btc-usdt-1");
    await client.delete(pods, { namespace, name: "btc-usdt-1" }, { gracePeriodSeconds: 0 });
    await createPod("btc-usdt-1");
    await createKubeRoleWrites(client, engine, "owner").labelRole(
      { name: "btc-usdt-1", uid: first.metadata.uid },
      "primary",
    );
    assert.equal(await roleOf("btc-usdt-1"), undefined);
  });

  it("take a pod that is not there for gone", async () => {
    await createKubeRoleWrites(client, engine, "owner").labelRole({ name: "btc-usdt-9", uid: "none" }, "standby");
  });
});
