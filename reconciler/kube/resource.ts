/** Which collections of the API there are, and where each is reached. */
import type * as model from "@kubernetes/client-node";
import type { Json, KubeObject, NamespacedObject, ObjectRef } from "./kubeObject.ts";

declare const objectType: unique symbol;

/** One collection of the API server, and the type of its objects. */
export interface Resource<T extends KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set: ties `T` to the resource for the compiler. */
  readonly [objectType]?: T;
}

/** Names a collection; use it also for custom resources. */
export const defineResource = <T extends KubeObject>(resource: {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}): Resource<T> => resource;

/** The `apiVersion` of a resource's objects. */
export const apiVersionOf = (resource: Resource<KubeObject>): string =>
  resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;

/** Path of a collection; over all namespaces when `namespace` is left out. */
export const collectionPath = (resource: Resource<KubeObject>, namespace?: string): string => {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${resource.plural}`;
};

/** Path of one object. Throws when the namespace is missing or superfluous, which would address another collection. */
export const objectPath = (resource: Resource<KubeObject>, ref: ObjectRef, subresource?: string): string => {
  if (resource.namespaced !== (ref.namespace !== undefined)) {
    const rule = resource.namespaced ? "needs a namespace" : "is cluster-scoped and takes no namespace";
    throw new TypeError(`${resource.kind} ${ref.name} ${rule}`);
  }
  const suffix = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(resource, ref.namespace)}/${encodeURIComponent(ref.name)}${suffix}`;
};

type Namespaced<T> = NamespacedObject & Omit<Json<T>, "apiVersion" | "kind" | "metadata">;
type ClusterScoped<T> = KubeObject & Omit<Json<T>, "apiVersion" | "kind" | "metadata">;

export type Pod = Namespaced<model.V1Pod>;
export type Service = Namespaced<model.V1Service>;
export type ConfigMap = Namespaced<model.V1ConfigMap>;
export type Secret = Namespaced<model.V1Secret>;
export type ServiceAccount = Namespaced<model.V1ServiceAccount>;
export type PersistentVolumeClaim = Namespaced<model.V1PersistentVolumeClaim>;
export type PersistentVolume = ClusterScoped<model.V1PersistentVolume>;
export type Node = ClusterScoped<model.V1Node>;
export type Namespace = ClusterScoped<model.V1Namespace>;
export type StatefulSet = Namespaced<model.V1StatefulSet>;
export type Deployment = Namespaced<model.V1Deployment>;
export type Lease = Namespaced<model.V1Lease>;
export type PodDisruptionBudget = Namespaced<model.V1PodDisruptionBudget>;
export type NetworkPolicy = Namespaced<model.V1NetworkPolicy>;
export type StorageClass = ClusterScoped<model.V1StorageClass>;
export type VolumeAttachment = ClusterScoped<model.V1VolumeAttachment>;
export type Event = Namespaced<model.EventsV1Event>;
export type CustomResourceDefinition = ClusterScoped<model.V1CustomResourceDefinition>;

const core = { group: "", version: "v1" } as const;

export const pods = defineResource<Pod>({ ...core, plural: "pods", kind: "Pod", namespaced: true });
export const services = defineResource<Service>({ ...core, plural: "services", kind: "Service", namespaced: true });
export const configMaps = defineResource<ConfigMap>({
  ...core,
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
});
export const secrets = defineResource<Secret>({ ...core, plural: "secrets", kind: "Secret", namespaced: true });
export const serviceAccounts = defineResource<ServiceAccount>({
  ...core,
  plural: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
});
export const persistentVolumeClaims = defineResource<PersistentVolumeClaim>({
  ...core,
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
});
export const persistentVolumes = defineResource<PersistentVolume>({
  ...core,
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});
export const nodes = defineResource<Node>({ ...core, plural: "nodes", kind: "Node", namespaced: false });
export const namespaces = defineResource<Namespace>({
  ...core,
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
});
export const statefulSets = defineResource<StatefulSet>({
  group: "apps",
  version: "v1",
  plural: "statefulsets",
  kind: "StatefulSet",
  namespaced: true,
});
export const deployments = defineResource<Deployment>({
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
});
export const leases = defineResource<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
});
export const podDisruptionBudgets = defineResource<PodDisruptionBudget>({
  group: "policy",
  version: "v1",
  plural: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
  namespaced: true,
});
export const networkPolicies = defineResource<NetworkPolicy>({
  group: "networking.k8s.io",
  version: "v1",
  plural: "networkpolicies",
  kind: "NetworkPolicy",
  namespaced: true,
});
export const storageClasses = defineResource<StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  plural: "storageclasses",
  kind: "StorageClass",
  namespaced: false,
});
export const volumeAttachments = defineResource<VolumeAttachment>({
  group: "storage.k8s.io",
  version: "v1",
  plural: "volumeattachments",
  kind: "VolumeAttachment",
  namespaced: false,
});
export const events = defineResource<Event>({
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
});
export const customResourceDefinitions = defineResource<CustomResourceDefinition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});
