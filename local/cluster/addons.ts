/** What a bare cluster needs before pods can run: DNS, rights for it, and local volumes. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { applyObjects, kubectl } from "./kubectl.ts";
import type { ClusterLayout, NodeLayout } from "./layout.ts";

/** Volumes made beforehand on each node: enough for every engine that demo and tests run at a time, and some. */
const volumesPerNode = 24;
const volumeSize = "10Gi";

/** Name of the StorageClass of local volumes. */
export const localStorageClass = "local";

/** Applies everything; a second call changes nothing. */
export const applyAddons = async (layout: ClusterLayout): Promise<void> => {
  for (const node of layout.nodes) {
    for (const path of volumePaths(node)) await mkdir(path, { recursive: true, mode: 0o777 });
  }
  await applyObjects(layout.kubeconfig, [...dns(layout), storageClass, ...layout.nodes.flatMap(persistentVolumes)]);
};

/** DNS runs outside the cluster: a Service without selector leads to it. */
const dns = (layout: ClusterLayout): object[] => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "kube-dns", namespace: "kube-system" },
    spec: {
      clusterIP: layout.dnsAddress,
      ports: [
        { name: "dns", port: 53, protocol: "UDP" },
        { name: "dns-tcp", port: 53, protocol: "TCP" },
      ],
    },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "kube-dns", namespace: "kube-system", labels: { "kubernetes.io/service-name": "kube-dns" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [layout.address] }],
    ports: [
      { name: "dns", port: layout.dnsPort, protocol: "UDP" },
      { name: "dns-tcp", port: layout.dnsPort, protocol: "TCP" },
    ],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "system:coredns" },
    rules: [
      { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
    ],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "system:coredns" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:coredns" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "system:coredns" }],
  },
];

/** A volume is chosen only when its pod is placed, so that it is on the pod's node. */
const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: localStorageClass },
  provisioner: "kubernetes.io/no-provisioner",
  volumeBindingMode: "WaitForFirstConsumer",
  reclaimPolicy: "Retain",
};

const volumeNames = (node: NodeLayout): string[] =>
  Array.from({ length: volumesPerNode }, (_, index) => `${node.name}-${String(index).padStart(2, "0")}`);

const volumePath = (node: NodeLayout, name: string): string => join(node.folder, "volumes", name);

const volumePaths = (node: NodeLayout): string[] => volumeNames(node).map((name) => volumePath(node, name));

const persistentVolumes = (node: NodeLayout): object[] => volumeNames(node).map((name) => persistentVolume(node, name));

const persistentVolume = (node: NodeLayout, name: string): object => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name, labels: { "enginekeeper.dev/local-node": node.name } },
  spec: {
    capacity: { storage: volumeSize },
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: "Retain",
    storageClassName: localStorageClass,
    local: { path: volumePath(node, name) },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node.name] }] },
        ],
      },
    },
  },
});

/** Empties volumes whose claim is gone, and offers them again: nothing else recycles a local volume. */
export const recycleVolumes = async (layout: ClusterLayout): Promise<number> => {
  const { items } = JSON.parse(await kubectl(layout.kubeconfig, ["get", "persistentvolumes", "-o", "json"])) as {
    items: { metadata: { name: string; labels?: Record<string, string> }; status?: { phase?: string } }[];
  };
  const released = new Set(
    items.filter((volume) => volume.status?.phase === "Released").map((volume) => volume.metadata.name),
  );
  const fresh: object[] = [];
  for (const node of layout.nodes) {
    for (const name of volumeNames(node).filter((candidate) => released.has(candidate))) {
      await kubectl(layout.kubeconfig, ["delete", "persistentvolume", name, "--wait=true", "--timeout=20s"]);
      await rm(volumePath(node, name), { recursive: true, force: true });
      await mkdir(volumePath(node, name), { recursive: true, mode: 0o777 });
      fresh.push(persistentVolume(node, name));
    }
  }
  if (fresh.length > 0) await applyObjects(layout.kubeconfig, fresh);
  return fresh.length;
};
