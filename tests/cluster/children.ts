import { labels, labelValues } from "../../api/names.ts";
import {
  configMaps,
  type KubeObject,
  leases,
  networkPolicies,
  type Pod,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type Resource,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from "../../reconciler/kube/index.ts";
import type { EngineRef } from "../support/engines.ts";

/** Kinds of which an engine has objects, its volume claims aside. */
const childKinds: readonly Resource<KubeObject>[] = [
  statefulSets,
  pods,
  services,
  configMaps,
  secrets,
  serviceAccounts,
  podDisruptionBudgets,
  networkPolicies,
];

const selection = ({ namespace, engine }: EngineRef) => ({ namespace, labelSelector: `${labels.engine}=${engine}` });

/** `Kind/name` -> uid and version of every child of the engine but its volume claims; its Lease included. */
export async function childVersions(ref: EngineRef): Promise<Readonly<Record<string, string>>> {
  const lists = await Promise.all(childKinds.map((kind) => ref.client.list(kind, selection(ref))));
  const lease = await ref.client.list(leases, {
    namespace: ref.namespace,
    fieldSelector: `metadata.name=${ref.engine}`,
  });
  return Object.fromEntries(
    [...lists, lease]
      .flatMap(({ items }) => items)
      .map(({ kind, metadata }) => [`${kind}/${metadata.name}`, `${metadata.uid} ${metadata.resourceVersion}`]),
  );
}

/** Names of the engine's volume claims. */
export async function volumeClaims(ref: EngineRef): Promise<readonly string[]> {
  const { items } = await ref.client.list(persistentVolumeClaims, selection(ref));
  return items.map(({ metadata }) => metadata.name).sort();
}

/** The engine's replicas. */
export async function replicaPods({ client, namespace, engine }: EngineRef): Promise<readonly Pod[]> {
  const labelSelector = `${labels.engine}=${engine},${labels.name}=${labelValues.name}`;
  return (await client.list(pods, { namespace, labelSelector })).items;
}

export const podUids = async (ref: EngineRef): Promise<readonly string[]> =>
  (await replicaPods(ref)).map(({ metadata }) => metadata.uid).sort();
