/**
 * The daemon's own objects: two replicas, of which one acts and the other is ready to.
 */
import { dirname } from "node:path/posix";
import type { types } from "@pulumi/kubernetes";
import type { Input } from "@pulumi/pulumi";
import { restrictedContainer, restrictedPod } from "../podSecurity.ts";
import type { PlatformSettings } from "./config.ts";
import { operatorName, operatorSelector, platformLabels, platformMetadata } from "./metadata.ts";

type Container = types.input.core.v1.Container;
type EnvVar = types.input.core.v1.EnvVar;

const daemonPorts = { metrics: 8080, health: 8081 } as const;

/** Key of the passphrase in its Secret, and so its file name in the container. */
const passphraseKey = "passphrase";
const passphraseFile = `/etc/enginekeeper/passphrase/${passphraseKey}`;
const passphraseSecretName = `${operatorName}-passphrase`;

export const passphraseSecret = (namespace: string, passphrase: Input<string>): types.input.core.v1.Secret => ({
  metadata: platformMetadata(passphraseSecretName, namespace),
  type: "Opaque",
  stringData: { [passphraseKey]: passphrase },
});

export const operatorAccount = (namespace: string): types.input.core.v1.ServiceAccount => ({
  metadata: platformMetadata(operatorName, namespace),
  // Mounted by the pods that ask for it.
  automountServiceAccountToken: false,
});

const fromPod = (name: string, fieldPath: string): EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });

const environment = (settings: PlatformSettings): EnvVar[] => [
  { name: "EK_NAMESPACES", value: settings.namespaces.join(",") },
  fromPod("EK_NAMESPACE", "metadata.namespace"),
  fromPod("EK_POD_NAME", "metadata.name"),
  { name: "PULUMI_CONFIG_PASSPHRASE_FILE", value: passphraseFile },
];

const probes = (): Pick<Container, "livenessProbe" | "readinessProbe"> => ({
  livenessProbe: {
    httpGet: { path: "/healthz", port: "health" },
    initialDelaySeconds: 5,
    periodSeconds: 5,
    timeoutSeconds: 3,
    failureThreshold: 6,
  },
  readinessProbe: { httpGet: { path: "/readyz", port: "health" }, periodSeconds: 2, timeoutSeconds: 2 },
});

const container = (settings: PlatformSettings): Container => ({
  name: operatorName,
  image: settings.operatorImage,
  imagePullPolicy: "IfNotPresent",
  env: environment(settings),
  ports: Object.entries(daemonPorts).map(([name, containerPort]) => ({ name, containerPort, protocol: "TCP" })),
  // Each `up` runs the Pulumi CLI and the provider beside the daemon; no CPU limit, or a failover could be throttled.
  resources: { requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "1Gi" } },
  ...probes(),
  terminationMessagePolicy: "FallbackToLogsOnError",
  securityContext: restrictedContainer(),
  volumeMounts: [
    { name: "tmp", mountPath: "/tmp" },
    { name: "passphrase", mountPath: dirname(passphraseFile), readOnly: true },
  ],
});

export const deployment = (settings: PlatformSettings): types.input.apps.v1.Deployment => ({
  metadata: platformMetadata(operatorName, settings.operatorNamespace),
  spec: {
    replicas: 2,
    selector: { matchLabels: { ...operatorSelector } },
    // A new replica is ready to act before an old one goes.
    strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: {
      metadata: { labels: { ...platformLabels } },
      spec: {
        serviceAccountName: operatorName,
        automountServiceAccountToken: true,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 45,
        securityContext: restrictedPod(),
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                podAffinityTerm: {
                  topologyKey: "kubernetes.io/hostname",
                  labelSelector: { matchLabels: { ...operatorSelector } },
                },
              },
            ],
          },
        },
        containers: [container(settings)],
        volumes: [
          // Holds Pulumi's workspace during a run; the state itself is kept in the cluster.
          { name: "tmp", emptyDir: { sizeLimit: "1Gi" } },
          { name: "passphrase", secret: { secretName: passphraseSecretName, defaultMode: 0o440 } },
        ],
      },
    },
  },
});

export const operatorBudget = (namespace: string): types.input.policy.v1.PodDisruptionBudget => ({
  metadata: platformMetadata(operatorName, namespace),
  spec: { maxUnavailable: 1, selector: { matchLabels: { ...operatorSelector } } },
});

/** For Prometheus: every replica has metrics of its own, hence headless. */
export const metricsService = (namespace: string): types.input.core.v1.Service => ({
  metadata: platformMetadata(`${operatorName}-metrics`, namespace),
  spec: {
    type: "ClusterIP",
    clusterIP: "None",
    selector: { ...operatorSelector },
    ports: [{ name: "metrics", port: daemonPorts.metrics, targetPort: "metrics", protocol: "TCP" }],
  },
});
