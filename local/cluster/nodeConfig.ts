/** The configuration files of one node's programs, as text: no side effects. */
import { join } from "node:path";
import { pauseImage } from "../images/names.ts";
import type { ClusterLayout, NodeLayout } from "./layout.ts";

/** containerd with the CRI plugin; everything of its own below the node's folder. */
export const containerdConfig = (node: NodeLayout): string => `version = 2
root = "${join(node.folder, "containerd")}"
state = "/run/containerd"

[grpc]
  address = "/run/containerd/containerd.sock"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Without CAP_SYS_RESOURCE a container's oom score can't be lowered, and its start would fail.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${join(node.folder, "cni")}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "runc"
        SystemdCgroup = false
`;

/**
 * Pods hang on point-to-point links and not on a bridge: between two pods on one bridge the
 * answer would bypass the node's address translation, and a ClusterIP would never answer.
 */
export const podNetworkConfig = (node: NodeLayout): string =>
  JSON.stringify({
    cniVersion: "0.4.0",
    name: "pods",
    plugins: [
      {
        type: "ptp",
        ipMasq: false,
        ipam: { type: "host-local", ranges: [[{ subnet: node.podCidr }]], routes: [{ dst: "0.0.0.0/0" }] },
      },
    ],
  });

export const kubeletConfig = (layout: ClusterLayout, node: NodeLayout): string =>
  JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: join(layout.pki, "ca.crt") },
    },
    authorization: { mode: "Webhook" },
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${node.cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    clusterDomain: "cluster.local",
    clusterDNS: [layout.dnsAddress],
    resolvConf: "",
    // There is no registry to fetch an image from again.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    maxPods: 110,
    registerNode: true,
    serializeImagePulls: false,
    staticPodPath: "",
    rotateCertificates: false,
    syncFrequency: "10s",
    nodeStatusUpdateFrequency: "5s",
  });

export const kubeProxyConfig = (layout: ClusterLayout, node: NodeLayout): string =>
  JSON.stringify({
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig: join(layout.pki, "proxy.kubeconfig") },
    mode: "nftables",
    clusterCIDR: layout.prefix,
    hostnameOverride: node.name,
    // The limit is the machine's, not the namespace's: a node must not set it.
    conntrack: { maxPerCore: 0, min: 0 },
    nftables: { minSyncPeriod: "100ms", syncPeriod: "30s" },
  });
