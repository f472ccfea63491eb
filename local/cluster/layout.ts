/**
 * Where everything of an embedded cluster is: names, addresses and folders, computed from
 * the cluster's name and number and from nothing else.
 */
import { join } from "node:path";

/** One node: a network namespace and a mount namespace with a kubelet and a containerd of its own. */
export interface NodeLayout {
  readonly name: string;
  readonly address: string;
  readonly podCidr: string;
  /** First address of the pod subnet: the node's end of the pod bridge. */
  readonly podGateway: string;
  /** Name under /run/netns. */
  readonly networkNamespace: string;
  /** Host end of the node's veth pair; down = the node is cut off. */
  readonly link: string;
  readonly folder: string;
  /** Path below each cgroup hierarchy. */
  readonly cgroup: string;
}

/** An embedded cluster. */
export interface ClusterLayout {
  readonly name: string;
  readonly bridge: string;
  /** Address of the host on the cluster's network: API server, etcd and DNS listen here. */
  readonly address: string;
  readonly network: string;
  readonly prefix: string;
  readonly serviceCidr: string;
  readonly apiServiceAddress: string;
  readonly dnsAddress: string;
  readonly dnsPort: number;
  readonly apiPort: number;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
  readonly apiServer: string;
  readonly folder: string;
  readonly pki: string;
  readonly logs: string;
  readonly pids: string;
  readonly kubeconfig: string;
  readonly nodes: readonly NodeLayout[];
}

/** All embedded clusters of this machine live below this folder. */
export const clustersRoot = "/var/lib/enginekeeper/clusters";

/** Known clusters and their number, which picks their addresses: each may run beside the others. */
export const clusterNumbers = { dev: 0, test: 1 } as const;
export type ClusterName = keyof typeof clusterNumbers;

/**
 * The layout of cluster `name` with `nodeCount` nodes.
 * Addresses are 10.90.x.x for cluster 0, 10.91.x.x for cluster 1.
 */
export const clusterLayout = (name: ClusterName, nodeCount = 3): ClusterLayout => {
  const network = `10.${90 + clusterNumbers[name]}`;
  const folder = join(clustersRoot, name);
  const bridge = `ek-${name}`;
  const address = `${network}.0.1`;
  const node = (_: unknown, index: number): NodeLayout => {
    const number = index + 1;
    const nodeName = `${name}-node-${number}`;
    return {
      name: nodeName,
      address: `${network}.0.${10 + number}`,
      podCidr: `${network}.${16 + number}.0/24`,
      podGateway: `${network}.${16 + number}.1`,
      networkNamespace: `${bridge}-${number}`,
      link: `${bridge}-${number}`,
      folder: join(folder, "nodes", nodeName),
      cgroup: `enginekeeper-${nodeName}`,
    };
  };
  return {
    name,
    bridge,
    address,
    network: `${network}.0.0/24`,
    prefix: `${network}.0.0/16`,
    serviceCidr: `${network}.128.0/20`,
    apiServiceAddress: `${network}.128.1`,
    dnsAddress: `${network}.128.10`,
    dnsPort: 53,
    apiPort: 6443,
    etcdPort: 2379,
    etcdPeerPort: 2380,
    apiServer: `https://${address}:6443`,
    folder,
    pki: join(folder, "pki"),
    logs: join(folder, "logs"),
    pids: join(folder, "pids"),
    kubeconfig: join(folder, "admin.kubeconfig"),
    nodes: Array.from({ length: nodeCount }, node),
  };
};
