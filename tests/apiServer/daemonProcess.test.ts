/** The daemon as a process: how it starts, takes leadership, and ends. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import {
  createKubeClient,
  isNotFound,
  type KubeClient,
  leases,
  loadClusterAccess,
  namespaces,
} from "../../reconciler/kube/index.ts";
import { choosePorts } from "../support/choosePorts.ts";
import { waitFor } from "../support/waitFor.ts";
import { connectApiClient } from "./apiClient.ts";
import { type ApiServer, startApiServer } from "./startApiServer.ts";
import { installTradingEngineCrd } from "./tradingEngines.ts";

const entry = fileURLToPath(new URL("../../reconciler/main.ts", import.meta.url));
const ownNamespace = "enginekeeper-system";
const deadlineMs = 60_000;

interface Daemon {
  readonly child: ChildProcess;
  readonly healthPort: number;
  /** Everything that it wrote. */
  readonly output: () => string;
}

const startDaemon = async (test: TestContext, env: Record<string, string>): Promise<Daemon> => {
  const [metricsPort = 0, healthPort = 0] = await choosePorts(2);
  const folder = await mkdtemp(join(tmpdir(), "daemon-"));
  const plugins = join(folder, "plugins");
  await mkdir(plugins);
  const child = spawn(process.execPath, [entry], {
    env: {
      PATH: process.env["PATH"],
      PULUMI_CONFIG_PASSPHRASE: "passphrase of the test",
      EK_SCRATCH: join(folder, "scratch"),
      EK_PLUGINS_FOLDER: plugins,
      EK_METRICS_PORT: String(metricsPort),
      EK_HEALTH_PORT: String(healthPort),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  test.after(async () => {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  return { child, healthPort, output: () => chunks.join("") };
};

const exitOf = async ({ child }: Daemon): Promise<number | null> => {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
};

const readiness = async ({ healthPort }: Daemon): Promise<number> => {
  try {
    return (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status;
  } catch {
    return 0;
  }
};

describe("the daemon", () => {
  let server: ApiServer;
  let client: KubeClient;

  before(async () => {
    server = await startApiServer();
    const api = await connectApiClient(server);
    await installTradingEngineCrd(api);
    await api.close();
    client = createKubeClient({
      access: await loadClusterAccess({ kubeconfig: server.kubeconfigPath }),
      userAgent: "daemon-test",
    });
    for (const name of [ownNamespace, "trading"]) await client.create(namespaces, { metadata: { name } });
  });

  after(async () => {
    await client.close();
    await server.stop();
  });

  const holder = async (): Promise<string> => {
    try {
      const lease = await client.get(leases, { namespace: ownNamespace, name: "enginekeeper" });
      return lease.spec?.holderIdentity ?? "";
    } catch (error) {
      if (isNotFound(error)) return "";
      throw error;
    }
  };

  const holderIs = (name: string): Promise<string> =>
    waitFor({ what: `the Lease to be held by "${name}"`, deadlineMs, look: holder, until: (held) => held === name });

  const settings = (pod: string): Record<string, string> => ({
    EK_NAMESPACES: "trading",
    EK_NAMESPACE: ownNamespace,
    EK_POD_NAME: pod,
    EK_KUBECONFIG: server.kubeconfigPath,
  });

  it("says what is wrong with its environment, in one line", async (test) => {
    const daemon = await startDaemon(test, {});
    assert.equal(await exitOf(daemon), 1);
    assert.match(daemon.output(), /^enginekeeper: the environment is not complete: EK_NAMESPACES: must name.*\n$/);
  });

  it("is ready whether it leads or waits, and hands leadership over when it is told to end", async (test) => {
    const first = await startDaemon(test, settings("first"));
    await holderIs("first");
    const second = await startDaemon(test, settings("second"));
    for (const daemon of [first, second])
      await waitFor({
        what: "readiness",
        deadlineMs,
        look: () => readiness(daemon),
        until: (status) => status === 200,
      });
    assert.equal(await holder(), "first");

    first.child.kill("SIGTERM");
    assert.equal(await exitOf(first), 0, first.output());
    await holderIs("second");
    second.child.kill("SIGTERM");
    assert.equal(await exitOf(second), 0, second.output());
    assert.equal(await holder(), "", "the Lease is free");
  });
});
