import type { types } from "@pulumi/kubernetes";
import { childNames } from "../../api/names.ts";
import { restrictedPod } from "../podSecurity.ts";
import { configHash, configHashAnnotation } from "./config.ts";
import {
  configVolume,
  controlVolume,
  engineContainer,
  scratchVolume,
  terminationGracePeriodSeconds,
} from "./container.ts";
import type { Engine } from "./engine.ts";
import { childMetadata, engineLabels, podSelector } from "./metadata.ts";
import { volumeClaimTemplate } from "./volumes.ts";

type PodSpec = types.input.core.v1.PodSpec;
type PodTemplate = types.input.core.v1.PodTemplateSpec;
type Toleration = types.input.core.v1.Toleration;

/**
 * Fields of the set that cannot be changed in place. Pulumi would change them by deleting the
 * set together with every replica; they stay what they were when the set was made.
 */
export const fixedSetFields: readonly string[] = [
  "spec.volumeClaimTemplates",
  "spec.selector",
  "spec.serviceName",
  "spec.podManagementPolicy",
];

/**
 * Without a limit in time: whether a replica on a silent node is dead is judged by its peers.
 * The node controller would evict working replicas after an outage of the API server alone.
 */
const staysOnSilentNode: Toleration[] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map(
  (key) => ({ key, operator: "Exists", effect: "NoExecute" }),
);

/**
 * A preference, not a demand: with volumes bound to nodes a demand could leave a replica
 * unschedulable for ever after a node came back.
 */
const apartFromEachOther = (engine: Engine): Pick<PodSpec, "affinity" | "topologySpreadConstraints"> => {
  const labelSelector = { matchLabels: podSelector(engine) };
  return {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector } },
        ],
      },
    },
    topologySpreadConstraints: [
      {
        topologyKey: "topology.kubernetes.io/zone",
        maxSkew: 1,
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector,
      },
    ],
  };
};

/**
 * The pods' template. It depends on the spec alone, not on who runs the component, so that
 * handing an engine from `direct` to `managed` restarts no replica. It carries no role label:
 * roles are given to pods, never to a template.
 */
export const podTemplate = (engine: Engine): PodTemplate => {
  const names = childNames(engine.name);
  return {
    metadata: {
      labels: engineLabels(engine),
      // A replica reads its configuration once; a new hash makes the pod outdated, and so replaced in turn.
      annotations: { [configHashAnnotation]: configHash(engine) },
    },
    spec: {
      serviceAccountName: names.serviceAccount,
      automountServiceAccountToken: false,
      // A Service named like an engine would otherwise put variables of its own beside the engine's.
      enableServiceLinks: false,
      terminationGracePeriodSeconds,
      securityContext: restrictedPod(),
      tolerations: staysOnSilentNode,
      ...apartFromEachOther(engine),
      containers: [engineContainer(engine)],
      volumes: [
        { name: configVolume, configMap: { name: names.config } },
        { name: controlVolume, secret: { secretName: names.controlSecret, defaultMode: 0o440 } },
        { name: scratchVolume, emptyDir: { sizeLimit: "64Mi" } },
      ],
    },
  };
};

/**
 * The replicas. All start together, since none waits for another, and an update never touches
 * a pod by itself: the role lane decides which one goes when.
 */
export const statefulSet = (engine: Engine): types.input.apps.v1.StatefulSet => ({
  metadata: childMetadata(engine, childNames(engine.name).statefulSet),
  spec: {
    replicas: engine.spec.hibernate ? 0 : engine.spec.replicas,
    serviceName: childNames(engine.name).replicasService,
    podManagementPolicy: "Parallel",
    updateStrategy: { type: "OnDelete" },
    selector: { matchLabels: podSelector(engine) },
    template: podTemplate(engine),
    volumeClaimTemplates: [volumeClaimTemplate(engine)],
  },
});
