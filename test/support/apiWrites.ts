import type { KubeClient } from "../../reconciler/kube/index.ts";
import { type Sample, samplesOf } from "./metricsText.ts";

const writeVerbs: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"]);

/** What an engine is made of, and what a restless controller would write about it. */
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
  "events",
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
  for (const { labels, value } of samples) {
    const verb = labels["verb"] ?? "";
    const resource = labels["resource"] ?? "";
    const subresource = labels["subresource"] ?? "";
    if (!writeVerbs.has(verb) || !resources.has(resource)) continue;
    // The kubelet renews the tokens of pods in their own time.
    if (subresource === "token") continue;
    const key = `${verb} ${resource}${subresource === "" ? "" : `/${subresource}`}`;
    counts[key] = (counts[key] ?? 0) + value;
  }
  return counts;
}

/** What was written between two counts; empty when nothing was. */
export function writesBetween(before: WriteCounts, after: WriteCounts): WriteCounts {
  const entries = Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)] as const);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}
