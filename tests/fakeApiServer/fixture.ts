/** What nearly every test of the Kubernetes library starts from. */
import type { TestContext } from "node:test";
import { createKubeClient } from "../../reconciler/kube/client.ts";
import type { KubeClient } from "../../reconciler/kube/kubeClient.ts";
import { type FakeApiServer, startFakeApiServer } from "./fakeApiServer.ts";
import { createVirtualClock, type VirtualClock } from "./virtualClock.ts";

export interface FakeCluster {
  readonly server: FakeApiServer;
  readonly clock: VirtualClock;
  /** A client whose deadlines and waits follow `clock`. */
  readonly client: KubeClient;
  /** Aborts when the test ends. */
  readonly signal: AbortSignal;
}

/** Starts a fake API server with a client on it, and ends both with the test. */
export const startFakeCluster = async (test: TestContext): Promise<FakeCluster> => {
  const server = await startFakeApiServer();
  const clock = createVirtualClock();
  const client = createKubeClient({ access: server.access, userAgent: "enginekeeper-test/1", clock });
  const ended = new AbortController();
  test.after(async () => {
    ended.abort();
    await client.close();
    await server.stop();
  });
  return { server, clock, client, signal: ended.signal };
};

/** Collection paths of the fake store. */
export const collections = {
  pods: "/api/v1/pods",
  configMaps: "/api/v1/configmaps",
  leases: "/apis/coordination.k8s.io/v1/leases",
  events: "/apis/events.k8s.io/v1/events",
} as const;

/** A Pod of no particular content. */
export const podNamed = (name: string, labels: Readonly<Record<string, string>> = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "trading", labels },
});
