import type { types } from "@pulumi/kubernetes";
import { childNames, labels, ports } from "../../api/names.ts";
import type { Engine } from "./engine.ts";
import { childMetadata, podSelector } from "./metadata.ts";

type Service = types.input.core.v1.Service;

const port = (name: keyof typeof ports) => ({ name, port: ports[name], targetPort: name, protocol: "TCP" });

/**
 * Leads to the primary. It follows the role label alone: waiting for the pod's readiness
 * would add a probe period to every failover, and a primary that is not ready says so itself.
 */
export const primaryService = (engine: Engine): Service => ({
  metadata: childMetadata(engine, childNames(engine.name).primaryService),
  spec: {
    type: "ClusterIP",
    selector: { ...podSelector(engine), [labels.role]: "primary" },
    publishNotReadyAddresses: true,
    ports: [port("orders"), port("feed")],
  },
});

/** Leads to the standbys that have caught up: reads and the market data feed, off the primary's back. */
export const standbyService = (engine: Engine): Service => ({
  metadata: childMetadata(engine, childNames(engine.name).standbyService),
  spec: {
    type: "ClusterIP",
    selector: { ...podSelector(engine), [labels.role]: "standby" },
    ports: [port("orders"), port("feed")],
  },
});

/**
 * Gives each replica a name of its own. Names of replicas that are not ready resolve too:
 * a standby becomes ready only after it has found its primary.
 */
export const replicasService = (engine: Engine): Service => ({
  metadata: childMetadata(engine, childNames(engine.name).replicasService),
  spec: {
    type: "ClusterIP",
    clusterIP: "None",
    selector: podSelector(engine),
    publishNotReadyAddresses: true,
    ports: [port("orders"), port("feed"), port("control"), port("replication")],
  },
});

/** Where clients connect, host:port, valid inside the cluster. */
export const endpoints = (namespace: string, engine: string): { readonly orders: string; readonly feed: string } => {
  const names = childNames(engine);
  return {
    orders: `${names.primaryService}.${namespace}.svc:${ports.orders}`,
    feed: `${names.standbyService}.${namespace}.svc:${ports.feed}`,
  };
};
