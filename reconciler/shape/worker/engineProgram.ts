/** The inline program of an engine's stack: the same component that an engineer's own program would build. */
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { TradingEngine } from "../../../infra/tradingEngine.ts";
import type { UpJob } from "./protocol.ts";

/**
 * The cluster is named here so that another kubeconfig for it never looks like another cluster, which would replace
 * every object. Secrets and ConfigMaps are changed in place: a replaced one would be gone for a moment.
 */
const clusterProvider = (): k8s.Provider =>
  new k8s.Provider("cluster", {
    clusterIdentifier: "this",
    enableSecretMutable: true,
    enableConfigMapMutable: true,
  });

/** With this no plan can replace or delete the StatefulSet, and so all replicas at once. */
const protectReplicas: pulumi.ResourceTransformation = ({ type, props, opts }) =>
  type === "kubernetes:apps/v1:StatefulSet" ? { props, opts: pulumi.mergeOptions(opts, { protect: true }) } : undefined;

export const engineProgram =
  ({ program, controlToken, leadership }: Pick<UpJob, "program" | "controlToken" | "leadership">) =>
  (): Promise<Record<string, unknown>> => {
    const { owner, ...shape } = program;
    const engine = new TradingEngine(
      program.engine,
      { ...shape, ownerReference: owner, controlToken: pulumi.secret(controlToken) },
      { provider: clusterProvider(), transformations: [protectReplicas] },
    );
    return Promise.resolve({ ...leadership, endpoint: engine.endpoint });
  };
