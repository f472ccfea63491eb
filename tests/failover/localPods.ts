/** Engine processes on loopback that the fake API server shows as the pods of one TradingEngine. */
import type { TestContext } from "node:test";
import { labels } from "../../api/names.ts";
import type { EngineClient } from "../../engine/testing/engineClient.ts";
import { testCluster, testToken, written } from "../../engine/testing/engineClient.ts";
import { EngineProcess } from "../../engine/testing/engineProcess.ts";
import type { AddressOf } from "../../reconciler/contract/index.ts";
import type { FakeApiServer } from "../fakeApiServer/index.ts";
import { choosePorts } from "../support/choosePorts.ts";

const [namespace = "", engine = ""] = testCluster.split("/");

/** Collections of the fake API server. */
export const collections = {
  engines: "/apis/enginekeeper.dev/v1alpha1/tradingengines",
  pods: "/api/v1/pods",
  leases: "/apis/coordination.k8s.io/v1/leases",
  secrets: "/api/v1/secrets",
  events: "/apis/events.k8s.io/v1/events",
} as const;

interface RunningPod {
  readonly ip: string;
  readonly process: EngineProcess;
}

/** The pods of one engine, each an `engine/main.ts` process with a data folder of its own. */
export class LocalPods {
  readonly #test: TestContext;
  readonly #root: string;
  readonly #api: FakeApiServer;
  readonly #pods = new Map<string, RunningPod>();
  /** A replica keeps the address that clients know it by over all its restarts, as its name in a cluster's DNS does. */
  readonly #orderPorts = new Map<string, number>();
  #starts = 0;

  constructor(test: TestContext, root: string, api: FakeApiServer) {
    this.#test = test;
    this.#root = root;
    this.#api = api;
  }

  /** Creates the TradingEngine and its control Secret; its pods are started one by one. */
  declare(spec: object): void {
    this.#api.store.put(collections.engines, {
      apiVersion: "enginekeeper.dev/v1alpha1",
      kind: "TradingEngine",
      metadata: { namespace, name: engine, generation: 1 },
      spec,
    });
    this.#api.store.put(collections.secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name: `${engine}-control` },
      data: { token: Buffer.from(testToken).toString("base64") },
    });
  }

  /** Starts the process of a pod and shows it as running. Started again, it finds the data it left. */
  async start(ordinal: number): Promise<void> {
    const name = `${engine}-${ordinal}`;
    const env = { TE_ORDER_ADDR: `127.0.0.1:${await this.#orderPortOf(name)}` };
    const process = await EngineProcess.start(this.#test, this.#root, name, env);
    this.#starts += 1;
    const ip = `10.9.${ordinal}.${this.#starts}`;
    this.#pods.set(name, { ip, process });
    this.#api.store.put(collections.pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace, name, labels: { [labels.engine]: engine } },
      spec: { nodeName: `node-${ordinal}`, containers: [{ name: "engine", image: "engine:1" }] },
      status: {
        phase: "Running",
        podIP: ip,
        containerStatuses: [{ name: "engine", state: { running: {} }, restartCount: 0 }],
      },
    });
  }

  /** Kills the process and leaves the pod object: the API server knows nothing of it yet. */
  async kill(name: string, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#pod(name).process.end(signal);
  }

  /** Sends a signal that does not end the process. */
  signal(name: string, signal: NodeJS.Signals): void {
    this.#pod(name).process.child.kill(signal);
  }

  /** Removes the pod object, as a forced deletion does. */
  removeObject(name: string): void {
    this.#api.store.remove(collections.pods, namespace, name);
  }

  client(name: string): EngineClient {
    return this.#pod(name).process.client;
  }

  /** Value of a pod's role label. */
  roleOf(name: string): string | undefined {
    return this.#api.store.get(collections.pods, namespace, name)?.metadata.labels?.[labels.role];
  }

  /** Where the process behind a pod's address really listens. */
  readonly addressOf: AddressOf = ({ ip }) => {
    const pod = [...this.#pods.values()].find((candidate) => candidate.ip === ip);
    // A pod that was replaced: nobody listens on port 1.
    if (pod === undefined) return { control: "127.0.0.1:1", replication: "127.0.0.1:1", orders: "127.0.0.1:1" };
    const { control, replication, orders } = pod.process.client.addresses;
    return { control: written(control), replication: written(replication), orders: written(orders) };
  };

  async #orderPortOf(name: string): Promise<number> {
    const known = this.#orderPorts.get(name);
    if (known !== undefined) return known;
    const [port = 0] = await choosePorts(1);
    this.#orderPorts.set(name, port);
    return port;
  }

  #pod(name: string): RunningPod {
    const pod = this.#pods.get(name);
    if (pod === undefined) throw new Error(`${name} was never started`);
    return pod;
  }
}
