import type { types } from "@pulumi/kubernetes";
import { childNames, ports } from "../../api/names.ts";
import type { Engine, EnginePeers, NetworkPeer } from "./engine.ts";
import { childMetadata, podSelector } from "./metadata.ts";

type IngressRule = types.input.networking.v1.NetworkPolicyIngressRule;
type PolicyPeer = types.input.networking.v1.NetworkPolicyPeer;

/** Label that the API server sets on every Namespace. */
const namespaceNameLabel = "kubernetes.io/metadata.name";

/** Peers of an engine that is not told otherwise: clients anywhere in the cluster, control from one namespace only. */
export const defaultPeers = (operatorNamespace: string): EnginePeers => ({
  clients: [{ namespaceSelector: { matchLabels: {} } }],
  controllers: [{ namespaceSelector: { matchLabels: { [namespaceNameLabel]: operatorNamespace } } }],
});

const tcp = (...names: (keyof typeof ports)[]) => names.map((name) => ({ protocol: "TCP", port: ports[name] }));

const copied = (peers: readonly NetworkPeer[]): PolicyPeer[] => peers.map((peer) => structuredClone(peer));

/** Opens ports to peers. No peers = no rule: in a NetworkPolicy an empty list of peers means everybody. */
const opened = (peers: readonly NetworkPeer[], ...names: (keyof typeof ports)[]): IngressRule[] =>
  peers.length === 0 ? [] : [{ from: copied(peers), ports: tcp(...names) }];

/** Denies everything to and from the replicas but what an engine needs. */
export const networkPolicy = (engine: Engine): types.input.networking.v1.NetworkPolicy => {
  const replicas: NetworkPeer[] = [{ podSelector: { matchLabels: podSelector(engine) } }];
  return {
    metadata: childMetadata(engine, childNames(engine.name).networkPolicy),
    spec: {
      podSelector: { matchLabels: podSelector(engine) },
      policyTypes: ["Ingress", "Egress"],
      ingress: [
        ...opened(engine.peers.clients, "orders", "feed"),
        ...opened(engine.peers.controllers, "control"),
        ...opened(replicas, "replication"),
      ],
      egress: [
        { to: copied(replicas), ports: tcp("replication") },
        // Without `to`: the address of the name server may belong to the node, which no selector reaches.
        {
          ports: [
            { protocol: "UDP", port: 53 },
            { protocol: "TCP", port: 53 },
          ],
        },
      ],
    },
  };
};
