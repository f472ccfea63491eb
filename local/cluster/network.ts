/** The cluster's network: one bridge on the host, one network namespace and veth pair for each node. */
import { run, succeeds } from "../process/run.ts";
import type { ClusterLayout, NodeLayout } from "./layout.ts";

const ip = async (...args: string[]): Promise<void> => {
  await run("ip", args, { timeoutMs: 10_000 });
};

const sysctlIn = async (namespace: string | null, setting: string): Promise<void> => {
  const args = ["-q", "-w", setting];
  if (namespace === null) await run("sysctl", args, { timeoutMs: 10_000 });
  else await run("nsenter", [`--net=/run/netns/${namespace}`, "sysctl", ...args], { timeoutMs: 10_000 });
};

/** Creates the bridge, the namespaces and the routes that are missing. */
export const ensureNetwork = async (layout: ClusterLayout): Promise<void> => {
  if (!(await succeeds("ip", ["link", "show", layout.bridge]))) {
    await ip("link", "add", layout.bridge, "type", "bridge");
    await ip("addr", "add", `${layout.address}/24`, "dev", layout.bridge);
    await ip("link", "set", layout.bridge, "up");
  }
  await sysctlIn(null, "net.ipv4.ip_forward=1");
  for (const node of layout.nodes) {
    if (!(await succeeds("ip", ["link", "show", node.link]))) await addNode(layout, node);
    await ip("route", "replace", node.podCidr, "via", node.address, "dev", layout.bridge);
  }
  for (const node of layout.nodes) await routePeers(layout, node);
};

const addNode = async (layout: ClusterLayout, node: NodeLayout): Promise<void> => {
  const namespace = node.networkNamespace;
  if (!(await succeeds("ip", ["netns", "exec", namespace, "true"]))) await ip("netns", "add", namespace);
  await ip("link", "add", node.link, "type", "veth", "peer", "name", "eth0", "netns", namespace);
  await ip("link", "set", node.link, "master", layout.bridge, "up");
  await ip("-n", namespace, "link", "set", "lo", "up");
  await ip("-n", namespace, "addr", "add", `${node.address}/24`, "dev", "eth0");
  await ip("-n", namespace, "link", "set", "eth0", "up");
  await ip("-n", namespace, "route", "replace", "default", "via", layout.address);
  await sysctlIn(namespace, "net.ipv4.ip_forward=1");
};

/** Pods of other nodes are reached through their node. */
const routePeers = async (layout: ClusterLayout, node: NodeLayout): Promise<void> => {
  for (const peer of layout.nodes) {
    if (peer.name === node.name) continue;
    await ip("-n", node.networkNamespace, "route", "replace", peer.podCidr, "via", peer.address);
  }
};

/** Removes the bridge and all namespaces of the cluster; what is not there is fine. */
export const removeNetwork = async (layout: ClusterLayout): Promise<void> => {
  for (const node of layout.nodes) {
    await succeeds("ip", ["link", "delete", node.link]);
    await succeeds("ip", ["netns", "delete", node.networkNamespace]);
  }
  await succeeds("ip", ["link", "delete", layout.bridge]);
};
