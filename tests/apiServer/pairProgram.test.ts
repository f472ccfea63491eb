/** The pair program, run by the stock CLI against a real API server; nothing runs the pods. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { annotations, apiVersion, fieldManagers } from "../../api/names.ts";
import {
  ensurePulumiWorkspace,
  type PulumiWorkspace,
  pulumiConfig,
  pulumiDestroy,
  pulumiOutputs,
  pulumiUp,
} from "../../local/pulumi/workspace.ts";
import { waitFor } from "../support/waitFor.ts";
import { type ApiClient, connectApiClient } from "./apiClient.ts";
import { type ApiServer, startApiServer } from "./startApiServer.ts";
import { installTradingEngineCrd } from "./tradingEngines.ts";

const stack = "btc-usdt";
const repository = dirname(dirname(import.meta.dirname));
const inTrading = (group: string, resource: string) => `${group}/namespaces/trading/${resource}`;
const engineUrl = `${inTrading(`/apis/${apiVersion}`, "tradingengines")}/${stack}`;

/** Kinds of an engine's children, and how many of each. */
const childLists: Readonly<Record<string, number>> = {
  [inTrading("/apis/apps/v1", "statefulsets")]: 1,
  [inTrading("/api/v1", "services")]: 3,
  [inTrading("/api/v1", "persistentvolumeclaims")]: 3,
  [inTrading("/api/v1", "configmaps")]: 1,
  [inTrading("/api/v1", "secrets")]: 1,
  [inTrading("/api/v1", "serviceaccounts")]: 1,
  [inTrading("/apis/policy/v1", "poddisruptionbudgets")]: 1,
  [inTrading("/apis/networking.k8s.io/v1", "networkpolicies")]: 1,
};

interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields: readonly { readonly manager: string }[];
  };
  /** Absent in kinds that have data instead. */
  readonly spec?: {
    readonly storageClassName?: string;
    readonly template?: { readonly spec: { readonly containers: readonly [{ readonly image: string }] } };
  };
}

describe("the pair program by the stock CLI", () => {
  let server: ApiServer;
  let client: ApiClient;
  let folder: string;
  let workspace: PulumiWorkspace;

  const workspaceAt = (name: string) => ensurePulumiWorkspace(repository, join(folder, name), server.kubeconfigPath);
  const configure = (values: Readonly<Record<string, string>>) => pulumiConfig(workspace, "pairs", stack, values);
  const up = () => pulumiUp(workspace, "pairs", stack, () => undefined);

  const children = async (): Promise<readonly Stored[]> => {
    const lists = await Promise.all(Object.keys(childLists).map((path) => client.call("GET", path)));
    return lists.flatMap(({ body }) => (body as { items: Stored[] }).items);
  };
  const identities = async () => (await children()).map(({ metadata }) => metadata.uid).sort();
  const versions = async () =>
    Object.fromEntries((await children()).map(({ metadata }) => [metadata.uid, metadata.resourceVersion]));
  /** All that is stored of the children but their versions: applied once more, an equal claim is stored again. */
  const contents = async () =>
    (await children()).map(({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, resourceVersion: "" } }));
  const engine = async (): Promise<Stored | undefined> => {
    const { status, body } = await client.call("GET", engineUrl);
    return status === 200 ? (body as Stored) : undefined;
  };

  /** Says of the engine, as the daemon does, that all of its spec is in place. */
  const settle = async (epoch: number): Promise<void> => {
    const found = await waitFor({
      what: "the TradingEngine",
      deadlineMs: 60_000,
      look: engine,
      until: (seen) => seen !== undefined,
    });
    const status = {
      primary: "btc-usdt-1",
      epoch,
      endpoint: { orders: "btc-usdt.trading.svc:7000" },
      settledRollout: found?.metadata.annotations?.[annotations.rollout],
      conditions: [
        { type: "Ready", status: "True", reason: "Trading", message: "", lastTransitionTime: "2030-01-01T00:00:00Z" },
      ],
    };
    const answer = await client.call(
      "PATCH",
      `${engineUrl}/status`,
      { status },
      { content: "application/merge-patch+json" },
    );
    assert.equal(answer.status, 200);
  };

  before(async () => {
    server = await startApiServer();
    client = await connectApiClient(server);
    await installTradingEngineCrd(client);
    await client.call("POST", "/api/v1/namespaces", { metadata: { name: "trading" } });
    folder = await mkdtemp(join(tmpdir(), "enginekeeper-pair-"));
    workspace = await workspaceAt("first");
  });
  after(async () => {
    await client.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("stops before it applies anything when the configuration is wrong, and says all of what to correct", async () => {
    await configure({ "trading:mode": "direct", "trading:controlToken": "one", "trading:engine.replicas": "9" });
    await assert.rejects(up(), (error: Error) => {
      assert.match(error.message, /Pulumi\.btc-usdt\.yaml/);
      assert.match(error.message, /replicas must be from 1 to 7/);
      return true;
    });
    assert.deepEqual(await children(), []);
    await configure({ "trading:engine.replicas": "3" });
  });

  it("in mode direct builds the engine, written by the field manager that the daemon uses too", async () => {
    await up();
    for (const [path, count] of Object.entries(childLists)) {
      const { body } = await client.call("GET", path);
      assert.equal((body as { items: Stored[] }).items.length, count, path);
    }
    for (const { metadata } of await children()) {
      assert.deepEqual(
        metadata.managedFields.map(({ manager }) => manager),
        [fieldManagers.shape],
        metadata.name,
      );
    }
  });

  it("writes nothing when nothing changed", async () => {
    const before = await versions();
    await up();
    assert.deepEqual(await versions(), before);
  });

  it("changes every object in place, and leaves a volume its class", async () => {
    const before = await identities();
    await configure({
      "trading:engine.image": "registry.example.com/engine:2",
      "trading:engine.storageClassName": "other",
      "trading:engine.resources.requests.cpu": "1500m",
      "trading:controlToken": "two",
    });
    await up();
    assert.deepEqual(await identities(), before);
    const after = await children();
    const set = after.find(({ spec }) => spec?.template !== undefined);
    assert.equal(set?.spec?.template?.spec.containers[0].image, "registry.example.com/engine:2");
    assert.deepEqual(
      after.filter(({ metadata }) => metadata.name.startsWith("data-")).map(({ spec }) => spec?.storageClassName),
      ["local", "local", "local"],
    );
    const settled = await versions();
    await up();
    assert.deepEqual(await versions(), settled, "the class that was left alone is no change either");
  });

  it("adopts what is there when its state is lost", async () => {
    const before = await contents();
    workspace = await workspaceAt("second");
    await configure({
      "trading:mode": "direct",
      "trading:controlToken": "two",
      "trading:engine.image": "registry.example.com/engine:2",
      "trading:engine.resources.requests.cpu": "1500m",
    });
    await up();
    assert.deepEqual(await contents(), before);
  });

  it("hands the running engine to the daemon without touching it, and tells what the daemon says of it", async () => {
    const before = await versions();
    await configure({ "trading:mode": "managed" });
    await Promise.all([up(), settle(4)]);
    assert.deepEqual(await versions(), before);
    assert.deepEqual(await pulumiOutputs(workspace, "pairs", stack), {
      endpoint: { orders: "btc-usdt.trading.svc:7000" },
      epoch: 4,
      primary: "btc-usdt-1",
    });
  });

  it("tells of a failover since, although nothing is to be changed", async () => {
    await settle(5);
    const before = (await engine())?.metadata.resourceVersion;
    await up();
    assert.equal((await pulumiOutputs(workspace, "pairs", stack))["epoch"], 5);
    assert.equal((await engine())?.metadata.resourceVersion, before);
  });

  it("deletes the TradingEngine and leaves its children to the daemon", async () => {
    // A foreground deletion would wait here for a garbage collector that does not run, and elsewhere delete the children itself.
    const before = await identities();
    await pulumiDestroy(workspace, "pairs", stack, () => undefined);
    assert.equal(await engine(), undefined);
    assert.deepEqual(await identities(), before);
  });
});
