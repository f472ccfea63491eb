import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { TradingEngineSpec } from "../api/tradingEngine/index.ts";
import { configMap } from "./engine/config.ts";
import { controlSecret } from "./engine/controlSecret.ts";
import { disruptionBudget } from "./engine/disruption.ts";
import { type Engine, type EngineOwner, type NetworkPeer, ordinals, type VolumeShape } from "./engine/engine.ts";
import { defaultPeers, networkPolicy } from "./engine/network.ts";
import { serviceAccount } from "./engine/serviceAccount.ts";
import { endpoints, primaryService, replicasService, standbyService } from "./engine/services.ts";
import { fixedSetFields, statefulSet } from "./engine/statefulSet.ts";
import { fixedClaimFields, volumeClaim } from "./engine/volumes.ts";
import { defaultOperatorNamespace } from "./operator.ts";

/** What a {@link TradingEngine} is made from. */
export interface TradingEngineArgs {
  /** Namespace of all objects; it must exist. */
  readonly namespace: string;
  /** Name of the engine, and of its objects by `childNames`. */
  readonly engine: string;
  /** What is wanted, defaults applied. `hibernate: true` stops the replicas and keeps everything else. */
  readonly spec: TradingEngineSpec;
  /** Token that the replicas ask of whoever controls them. Keep the one in use: replicas read it at their start only. */
  readonly controlToken: pulumi.Input<string>;
  /** The TradingEngine object in managed mode: it then owns every object but the volumes. */
  readonly ownerReference?: EngineOwner | undefined;
  /**
   * Volumes that exist already, by ordinal; they keep this class and size. Needed only to adopt
   * an engine whose state was lost after its spec changed, or whose class of volumes cannot grow:
   * a claim in Pulumi's state never changes its class, whatever the spec says.
   */
  readonly volumes?: Readonly<Record<number, VolumeShape>> | undefined;
  /** Class and size in the live StatefulSet's volume claim template; needed in the same cases as `volumes`. */
  readonly volumeTemplate?: VolumeShape | undefined;
  /** Namespace whose pods may reach the control API. Default: enginekeeper-system. */
  readonly operatorNamespace?: string | undefined;
  /** Who may reach order entry and feed. Default: every pod of the cluster. */
  readonly clients?: readonly NetworkPeer[] | undefined;
}

const engineOf = (args: TradingEngineArgs): Engine => {
  const peers = defaultPeers(args.operatorNamespace ?? defaultOperatorNamespace);
  return {
    namespace: args.namespace,
    name: args.engine,
    spec: args.spec,
    owner: args.ownerReference,
    peers: { ...peers, clients: args.clients ?? peers.clients },
    existingVolumes: args.volumes ?? {},
    existingVolumeTemplate: args.volumeTemplate,
  };
};

/**
 * Everything that a trading engine consists of in Kubernetes; who leads is decided elsewhere.
 *
 * The component waits for nothing: it ends when the API server has accepted the objects. To
 * take an engine down in order, apply it with `hibernate: true`, wait until its pods are gone,
 * and destroy it then: the destruction of a StatefulSet does not wait for its pods.
 *
 * With the option `retainOnDelete` every object outlives its removal from the program.
 */
export class TradingEngine extends pulumi.ComponentResource {
  /** Where clients connect, host:port, valid inside the cluster. */
  readonly endpoint: { readonly orders: string; readonly feed: string };
  /** Name of the StatefulSet, known once it exists. */
  readonly statefulSet: pulumi.Output<string>;

  /**
   * @param name Prefix of the children's URNs. Use the engine's name, so that every program that builds the engine names them alike.
   */
  constructor(name: string, args: TradingEngineArgs, opts?: pulumi.ComponentResourceOptions) {
    // The inputs go into the state; the spec stays out of it, or each change of the spec would be stored twice.
    super("enginekeeper:index:TradingEngine", name, { namespace: args.namespace, engine: args.engine }, opts);

    const engine = engineOf(args);
    const child = { parent: this };

    const config = new k8s.core.v1.ConfigMap(`${name}-config`, configMap(engine), child);
    const secret = new k8s.core.v1.Secret(`${name}-control`, controlSecret(engine, args.controlToken), child);
    const account = new k8s.core.v1.ServiceAccount(`${name}-account`, serviceAccount(engine), child);
    const policy = new k8s.networking.v1.NetworkPolicy(`${name}-network`, networkPolicy(engine), child);
    const replicas = new k8s.core.v1.Service(`${name}-replicas`, replicasService(engine), child);
    new k8s.core.v1.Service(`${name}-primary`, primaryService(engine), child);
    new k8s.core.v1.Service(`${name}-standby`, standbyService(engine), child);
    new k8s.policy.v1.PodDisruptionBudget(`${name}-disruption`, disruptionBudget(engine), child);

    const retainVolumes = opts?.retainOnDelete === true || args.spec.deletionPolicy.volumes === "Retain";
    const volumes = ordinals(engine).map(
      (ordinal) =>
        new k8s.core.v1.PersistentVolumeClaim(`${name}-data-${ordinal}`, volumeClaim(engine, ordinal), {
          ...child,
          ignoreChanges: [...fixedClaimFields],
          retainOnDelete: retainVolumes,
        }),
    );

    const set = new k8s.apps.v1.StatefulSet(`${name}-statefulset`, statefulSet(engine), {
      ...child,
      ignoreChanges: [...fixedSetFields],
      // Above all the claims: a claim that the StatefulSet controller had to make first would have no owner in Pulumi.
      dependsOn: [config, secret, account, policy, replicas, ...volumes],
    });

    this.endpoint = endpoints(args.namespace, args.engine);
    this.statefulSet = set.metadata.name;
    this.registerOutputs({ endpoint: this.endpoint, statefulSet: this.statefulSet });
  }
}
