import type { TradingEngineSpec } from "../../api/tradingEngine/index.ts";

/** The TradingEngine object that owns an engine's children in managed mode. */
export interface EngineOwner {
  readonly name: string;
  readonly uid: string;
}

/** Class and size of one volume. */
export interface VolumeShape {
  /** Absent = the cluster's default class. */
  readonly storageClassName?: string | undefined;
  /** A Kubernetes quantity, such as 20Gi. */
  readonly size: string;
}

/** Who may open connections to the replicas, besides the replicas themselves. */
export interface EnginePeers {
  /** May reach order entry and the feed. */
  readonly clients: readonly NetworkPeer[];
  /** May reach the control API and the metrics. */
  readonly controllers: readonly NetworkPeer[];
}

/** A peer of a NetworkPolicy; both selectors together select pods within the namespaces. */
export interface NetworkPeer {
  readonly namespaceSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly ipBlock?: { readonly cidr: string };
}

/** All that the objects of one engine are made of. Plain data: the functions beside this file turn it into objects. */
export interface Engine {
  readonly namespace: string;
  readonly name: string;
  readonly spec: TradingEngineSpec;
  readonly owner: EngineOwner | undefined;
  readonly peers: EnginePeers;
  /** Volumes that exist already, by ordinal: they keep their shape whatever the spec says. */
  readonly existingVolumes: Readonly<Record<number, VolumeShape>>;
  /** Shape in the volume claim template of the live StatefulSet; undefined = there is none yet. */
  readonly existingVolumeTemplate: VolumeShape | undefined;
}

/** Ordinals of the replicas that the spec wants. */
export const ordinals = (engine: Engine): readonly number[] =>
  Array.from({ length: engine.spec.replicas }, (_, ordinal) => ordinal);
