import { labels } from "../../api/names.ts";
import { type KubeClient, pods } from "../../reconciler/kube/index.ts";
import { type Sample, samplesOf } from "./metricsText.ts";
import { podProxy } from "./podProxy.ts";

const writeVerbs: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"]);

/**
 * What an engine is made of, and what a restless controller would write about it. Not Events: other components write
 * theirs whenever they like; those of the daemon are in {@link countDaemonWrites}.
 */
export const engineResources: ReadonlySet<string> = new Set([
  "tradingengines",
  "statefulsets",
  "controllerrevisions",
  "pods",
  "services",
  "endpoints",
  "endpointslices",
  "configmaps",
  "secrets",
  "serviceaccounts",
  "persistentvolumeclaims",
  "persistentvolumes",
  "poddisruptionbudgets",
  "networkpolicies",
]);

/** Number of writes by what was written, such as `PATCH pods/status`. */
export type WriteCounts = Readonly<Record<string, number>>;

/** Writes that the API server has served to `resources` since it started, refused ones included. */
export async function countWrites(client: KubeClient, resources: ReadonlySet<string>): Promise<WriteCounts> {
  const { body } = await client.raw({ method: "GET", path: "/metrics", timeoutMs: 30_000 });
  return sumWrites(samplesOf(body, "apiserver_request_total"), resources);
}

/** See {@link countWrites}. */
export function sumWrites(samples: readonly Sample[], resources: ReadonlySet<string>): WriteCounts {
  const counts: Record<string, number> = {};
  for (const { labels: of, value } of samples) {
    const verb = of["verb"] ?? "";
    const resource = of["resource"] ?? "";
    const subresource = of["subresource"] ?? "";
    if (!writeVerbs.has(verb) || !resources.has(resource)) continue;
    // The kubelet renews the tokens of pods in their own time.
    if (subresource === "token") continue;
    const key = `${verb} ${resource}${subresource === "" ? "" : `/${subresource}`}`;
    counts[key] = (counts[key] ?? 0) + value;
  }
  return counts;
}

const daemonMetricsPort = 8080;

/**
 * Writes that the daemon's replicas have sent since they started, Events included, by method. PUT is left out: it is
 * the renewal of the Lease of the acting replica, and of nothing else that an idle daemon could write.
 */
export async function countDaemonWrites(client: KubeClient, namespace: string): Promise<WriteCounts> {
  const { items } = await client.list(pods, { namespace, labelSelector: `${labels.name}=enginekeeper` });
  const counts: Record<string, number> = {};
  for (const { metadata } of items) {
    const port = { namespace, pod: metadata.name, port: daemonMetricsPort };
    const body = await podProxy(client, port, { path: "/metrics" });
    for (const { labels: of, value } of samplesOf(body, "rest_client_requests_total")) {
      const method = of["method"] ?? "";
      if (method === "GET" || method === "PUT") continue;
      const key = `${method} by ${metadata.name}`;
      counts[key] = (counts[key] ?? 0) + value;
    }
  }
  if (items.length === 0) throw new Error(`no pod of the daemon in namespace ${namespace}`);
  return counts;
}

/** What was written between two counts; empty when nothing was. */
export function writesBetween(before: WriteCounts, after: WriteCounts): WriteCounts {
  const entries = Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)] as const);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}
