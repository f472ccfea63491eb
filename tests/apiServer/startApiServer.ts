/**
 * A real API server for tests: etcd and kube-apiserver on the loopback address, without
 * nodes and controllers. What is sent is validated, stored and watched as in any cluster.
 */
import { access, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { type ToolName, toolPath } from "../../local/toolchain/manifest.ts";
import { choosePorts } from "../support/choosePorts.ts";
import { type BoundProcess, startBoundProcess } from "./boundProcess.ts";
import { type Credentials, type User, writeCredentials, writeKubeconfig } from "./credentials.ts";
import { makeScratchFolder, removeAbandoned } from "./scratchFolder.ts";

export interface ApiServerOptions {
  /** Default AlwaysAllow. With RBAC, only the administrator may do anything until roles are bound. */
  readonly authorization?: "AlwaysAllow" | "RBAC";
  /** Users beside the administrator, each of whom gets a token. */
  readonly users?: readonly User[];
  /** Further flags of kube-apiserver. */
  readonly flags?: readonly string[];
  /** For each start and restart, in milliseconds; default 120 s, for machines that are busy. */
  readonly readyDeadlineMs?: number;
}

export interface ApiServer {
  readonly url: string;
  /** Of the administrator. */
  readonly kubeconfigPath: string;
  /** PEM file that holds the server's certificate and its issuer. */
  readonly caFile: string;
  /** The administrator's. */
  readonly token: string;
  /** The token of one of `users`, or undefined for a name that was not given. */
  tokenOf(user: string): string | undefined;
  /** Freezes the API server: connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
  /** Kills the API server and leaves etcd; connections are reset, new ones refused. */
  crash(): Promise<void>;
  /** Starts it again after `crash`, with the same address, data and certificate; returns when it is ready. */
  recover(): Promise<void>;
  /** `crash` and `recover`. */
  restart(): Promise<void>;
  /**
   * Makes etcd forget all states before `resourceVersion`, as it does in a cluster every few minutes. The API server goes
   * on serving those that it has cached; `--watch-cache-sizes=PLURAL#0` keeps it from caching.
   */
  compact(resourceVersion: string): Promise<void>;
  /** Ends everything and removes every file. More than once does no harm. */
  stop(): Promise<void>;
}

const administrator: User = { name: "admin", groups: ["system:masters"] };
const defaultReadyDeadlineMs = 120_000;
const pollMs = 100;
const probeDeadlineMs = 5_000;

const builtTool = async (name: ToolName): Promise<string> => {
  const path = toolPath(name);
  await access(path).catch(() => {
    throw new Error(`${name} is missing: it is expected at ${path}, where ./demo puts it`);
  });
  return path;
};

const etcdArguments = (folder: string, clientPort: number, peerPort: number): readonly string[] => {
  const clientUrl = `http://127.0.0.1:${clientPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  return [
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    // The data do not outlive the test, and syncs would slow every write.
    "--unsafe-no-fsync",
    "--log-level=warn",
  ];
};

const apiServerArguments = (
  folder: string,
  port: number,
  etcdPort: number,
  credentials: Credentials,
  options: ApiServerOptions,
): readonly string[] => [
  "--bind-address=127.0.0.1",
  `--secure-port=${port}`,
  // The server makes its own certificate there at the first start, and keeps it at the next.
  `--cert-dir=${folder}`,
  `--etcd-servers=http://127.0.0.1:${etcdPort}`,
  `--token-auth-file=${credentials.tokenFile}`,
  `--authorization-mode=${options.authorization ?? "AlwaysAllow"}`,
  "--service-account-issuer=https://kubernetes.default.svc",
  `--service-account-signing-key-file=${credentials.serviceAccountPrivateKeyFile}`,
  `--service-account-key-file=${credentials.serviceAccountPublicKeyFile}`,
  "--service-cluster-ip-range=10.0.0.0/24",
  // No controller makes the default service accounts that this plugin asks for.
  "--disable-admission-plugins=ServiceAccount",
  "--allow-privileged=true",
  "--endpoint-reconciler-type=none",
  ...(options.flags ?? []),
];

const isReady = async (url: string, caFile: string, token: string): Promise<boolean> => {
  try {
    const agent = new Agent({ connect: { ca: await readFile(caFile) } });
    try {
      const answer = await request(`${url}/readyz`, {
        dispatcher: agent,
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(probeDeadlineMs),
      });
      await answer.body.dump();
      return answer.statusCode === 200;
    } finally {
      await agent.destroy();
    }
  } catch {
    // No certificate yet, nobody listens yet, or no answer in time: all mean "ask again".
    return false;
  }
};

const compactEtcd = async (port: number, revision: string): Promise<void> => {
  const answer = await request(`http://127.0.0.1:${port}/v3/kv/compaction`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ revision, physical: true }),
    signal: AbortSignal.timeout(probeDeadlineMs),
  });
  const said = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`etcd did not compact to ${revision}: ${said}`);
};

const waitUntilReady = async (
  processes: readonly { readonly name: string; readonly process: BoundProcess }[],
  probe: () => Promise<boolean>,
  deadlineMs: number,
): Promise<void> => {
  const deadline = performance.now() + deadlineMs;
  while (!(await probe())) {
    for (const { name, process } of processes) {
      if (process.ending() === null) continue;
      throw new Error(`${name} ended before it was ready; its last output:\n${await process.lastOutput()}`);
    }
    if (performance.now() > deadline) {
      const outputs = await Promise.all(
        processes.map(async ({ name, process }) => `--- ${name}\n${await process.lastOutput()}`),
      );
      throw new Error(`the API server was not ready after ${deadlineMs} ms; last outputs:\n${outputs.join("\n")}`);
    }
    await sleep(pollMs);
  }
};

/**
 * Starts an API server and waits until it is ready. Its processes end with this one, whatever
 * happens to it; a folder that a killed test left behind is removed by the next start.
 * @throws when a tool is not built, a process ends early or the deadline passes; nothing is left behind then
 */
export const startApiServer = async (options: ApiServerOptions = {}): Promise<ApiServer> => {
  const [etcdPath, apiServerPath] = await Promise.all([builtTool("etcd"), builtTool("kube-apiserver")]);
  await removeAbandoned();
  const folder = await makeScratchFolder();
  const [etcdClientPort = 0, etcdPeerPort = 0, port = 0] = await choosePorts(3);
  const url = `https://127.0.0.1:${port}`;
  const caFile = join(folder, "apiserver.crt");
  const kubeconfigPath = join(folder, "kubeconfig");
  const readyDeadlineMs = options.readyDeadlineMs ?? defaultReadyDeadlineMs;

  let etcd: BoundProcess | undefined;
  let server: BoundProcess | undefined;

  const stop = async (): Promise<void> => {
    await Promise.all([server?.kill(), etcd?.kill()]);
    await rm(folder, { recursive: true, force: true });
  };

  try {
    const credentials = await writeCredentials(folder, [administrator, ...(options.users ?? [])]);
    const token = credentials.tokens.get(administrator.name) ?? "";
    await writeKubeconfig(kubeconfigPath, url, caFile, token);

    const store = await startBoundProcess(
      etcdPath,
      etcdArguments(folder, etcdClientPort, etcdPeerPort),
      join(folder, "etcd.log"),
    );
    etcd = store;

    const recover = async (): Promise<void> => {
      if (server?.ending() === null) return;
      const started = await startBoundProcess(
        apiServerPath,
        apiServerArguments(folder, port, etcdClientPort, credentials, options),
        join(folder, "kube-apiserver.log"),
      );
      server = started;
      await waitUntilReady(
        [
          { name: "etcd", process: store },
          { name: "kube-apiserver", process: started },
        ],
        () => isReady(url, caFile, token),
        readyDeadlineMs,
      );
    };
    const crash = async (): Promise<void> => {
      await server?.kill();
    };

    await recover();
    return {
      url,
      kubeconfigPath,
      caFile,
      token,
      tokenOf: (user) => credentials.tokens.get(user),
      pause: () => server?.signal("SIGSTOP"),
      resume: () => server?.signal("SIGCONT"),
      crash,
      recover,
      restart: async () => {
        await crash();
        await recover();
      },
      compact: (resourceVersion) => compactEtcd(etcdClientPort, resourceVersion),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
