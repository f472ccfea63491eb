import type { KubeClient } from "../../reconciler/kube/index.ts";

/** A port of a pod, reached through the API server: works wherever the API server is reached. */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

export interface ProxyRequest {
  readonly method?: "GET" | "POST";
  /** Path and query on the pod, with its leading slash. */
  readonly path: string;
  /** Default 10 s. */
  readonly timeoutMs?: number;
}

/**
 * Body of the pod's answer. The API server keeps the Authorization header for itself, so what
 * needs a token of the pod cannot be reached this way.
 *
 * @throws ApiError also when the pod answers with an error status.
 */
export async function podProxy(client: KubeClient, port: PodPort, request: ProxyRequest): Promise<string> {
  const { body } = await client.raw({
    method: request.method ?? "GET",
    path: podProxyPath(port, request.path),
    ...(request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }),
  });
  return body;
}

/** Path at the API server that leads to `path` on the pod. */
export const podProxyPath = ({ namespace, pod, port }: PodPort, path: string): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}:${port}/proxy${path}`;
