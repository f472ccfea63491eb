/** The two clients that are compared, each used as its documentation says. */
import type { V1Pod } from "@kubernetes/client-node";
import { sentAtAnnotation } from "./benchPod.ts";
import type { PodServer } from "./podServer.ts";

export interface Contender {
  /** Follows all Pods until the process ends. Calls `onAdded` for each one found, `onUpdated` with the time it was sent. */
  follow(onAdded: () => void, onUpdated: (sentAt: bigint) => void): Promise<void>;
  getOne(): Promise<unknown>;
}

export type ContenderName = "ours" | "clientNode";

/** Loads only the one that is asked for: the other must not weigh on its heap. */
export const contenders: Readonly<Record<ContenderName, (server: PodServer) => Promise<Contender>>> = {
  async ours({ url, ca }) {
    const { createInformer, createKubeClient, pods } = await import("../../reconciler/kube/index.ts");
    const credentials = () => Promise.resolve({ headers: {}, tls: { ca } });
    const client = createKubeClient({
      access: { server: url, namespace: undefined, credentials },
      userAgent: "bench/1",
    });
    return {
      follow(onAdded, onUpdated) {
        const informer = createInformer({ client, resource: pods, withoutManagedFields: true });
        informer.onChange((change) => {
          if (change.type === "added") onAdded();
          if (change.type === "updated") onUpdated(sentAt(change.object.metadata.annotations));
        });
        informer.start(new AbortController().signal);
        return informer.whenSynced();
      },
      getOne: () => client.get(pods, { namespace: "trading", name: "engine-0" }),
    };
  },

  async clientNode({ url, ca }) {
    const { CoreV1Api, KubeConfig, makeInformer } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: "bench", server: url, caData: Buffer.from(ca).toString("base64") }],
      users: [{ name: "bench" }],
      contexts: [{ name: "bench", cluster: "bench", user: "bench" }],
      currentContext: "bench",
    });
    const api = config.makeApiClient(CoreV1Api);
    return {
      follow(onAdded, onUpdated) {
        const informer = makeInformer<V1Pod>(config, "/api/v1/pods", () => api.listPodForAllNamespaces());
        informer.on("add", onAdded);
        informer.on("update", (pod) => onUpdated(sentAt(pod.metadata?.annotations)));
        informer.on("error", (error: unknown) => {
          throw error;
        });
        return informer.start();
      },
      getOne: () => api.readNamespacedPod({ namespace: "trading", name: "engine-0" }),
    };
  },
};

const sentAt = (annotations: Readonly<Record<string, string>> | undefined): bigint =>
  BigInt(annotations?.[sentAtAnnotation] ?? 0);
