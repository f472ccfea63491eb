import { createHash } from "node:crypto";
import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { annotations, apiVersion, fieldManagers, labels, labelValues, tradingEngineKind } from "../api/names.ts";
import type { TradingEngineStatus } from "../api/tradingEngine/index.ts";
import type { PairConfig } from "./pairConfig.ts";

/** Pulling the image, provisioning volumes, the first election. */
const readyWithin = "300s";

/** Beyond the engine's own deadline for an orderly end, after which the daemon goes on without it. In seconds. */
const removalSlackSeconds = 120;

/** Names a rollout by what it brings: an `up` that changes nothing changes no annotation. */
const rolloutOf = (pair: PairConfig): string =>
  createHash("sha256").update(JSON.stringify(pair.written)).digest("hex").slice(0, 16);

/** The TradingEngine object that the daemon realises. */
export const tradingEngineObject = (pair: PairConfig): k8s.apiextensions.CustomResourceArgs => ({
  apiVersion,
  kind: tradingEngineKind,
  metadata: {
    name: pair.engine,
    namespace: pair.namespace,
    labels: { [labels.partOf]: labelValues.partOf },
    annotations: {
      "pulumi.com/patchFieldManager": fieldManagers.pair,
      "pulumi.com/patchForce": "true",
      // Pulumi's default, foreground, has the garbage collector delete the children at once and in any order, while the daemon takes the engine down.
      "pulumi.com/deletionPropagationPolicy": "background",
      [annotations.rollout]: rolloutOf(pair),
      // Ready alone would be true of the state before this change.
      "pulumi.com/waitFor": JSON.stringify(["condition=Ready", `jsonpath={.status.settledRollout}=${rolloutOf(pair)}`]),
    },
  },
  spec: pair.written,
});

/** A resource of which only the status is wanted. */
class LiveTradingEngine extends k8s.apiextensions.CustomResource {
  declare readonly status: pulumi.Output<TradingEngineStatus | undefined>;

  constructor(name: string, id: pulumi.Input<pulumi.ID>, opts: pulumi.CustomResourceOptions) {
    super(name, { apiVersion, kind: tradingEngineKind, status: undefined }, { ...opts, id });
  }
}

/** What a pair's stack tells of its engine. */
export interface ManagedEngine {
  /** Where clients connect; null until the daemon has seen the engine. */
  readonly endpoint: pulumi.Output<TradingEngineStatus["endpoint"] | null>;
  /** Pod of the primary; null without one. */
  readonly primary: pulumi.Output<string | null>;
  /** Counts the elections; null before the first. */
  readonly epoch: pulumi.Output<number | null>;
}

/**
 * Applies the TradingEngine object and waits until it is Ready.
 *
 * Its status is read separately, at each `up`: the outputs of the object itself are those of
 * the last `up` that changed it, and a failover since then would not show in them.
 */
export const managedEngine = (pair: PairConfig): ManagedEngine => {
  const goneWithin = pair.spec.deletionPolicy.deadlineSeconds + removalSlackSeconds;
  const object = new k8s.apiextensions.CustomResource(pair.engine, tradingEngineObject(pair), {
    customTimeouts: { create: readyWithin, update: readyWithin, delete: `${goneWithin}s` },
  });
  const { status } = new LiveTradingEngine(`${pair.engine}-live`, object.id, { dependsOn: [object] });
  return {
    endpoint: status.apply((seen) => seen?.endpoint ?? null),
    primary: status.apply((seen) => seen?.primary ?? null),
    epoch: status.apply((seen) => seen?.epoch ?? null),
  };
};
