import { ports } from "../../api/names.ts";

/** Where one replica is reached, each as host:port. */
export interface EngineAddress {
  readonly control: string;
  readonly replication: string;
  readonly orders: string;
}

/** How the reconciler and the other replicas find a pod; a test maps pods to loopback ports instead. */
export type AddressOf = (pod: { readonly name: string; readonly ip: string }) => EngineAddress;

/** By pod address: a name would add a DNS lookup, and its cache, to every failover. */
export const podAddress: AddressOf = ({ ip }) => {
  const host = ip.includes(":") ? `[${ip}]` : ip;
  return {
    control: `${host}:${ports.control}`,
    replication: `${host}:${ports.replication}`,
    orders: `${host}:${ports.orders}`,
  };
};
