import { dirname } from "node:path/posix";
import type { types } from "@pulumi/kubernetes";
import { childNames, clusterUid, paths, ports } from "../../api/names.ts";
import { restrictedContainer } from "../podSecurity.ts";
import type { Engine } from "./engine.ts";
import { volumeName } from "./volumes.ts";

type Container = types.input.core.v1.Container;
type EnvVar = types.input.core.v1.EnvVar;
type Probe = types.input.core.v1.Probe;

/** Time that a replica has to hand over after TERM, in milliseconds. */
const drainDeadlineMs = 20_000;

/** Time between TERM and KILL, in seconds: the drain and 10 s for the last fsync. */
export const terminationGracePeriodSeconds = drainDeadlineMs / 1000 + 10;

export const containerName = "engine";
export const configVolume = "config";
export const controlVolume = "control";
export const scratchVolume = "tmp";

const onAllAddresses = (port: number): string => `0.0.0.0:${port}`;

/**
 * The environment of a replica. Kubernetes fills in `$(TE_INSTANCE_ID)` from the line above it.
 */
const environment = (engine: Engine): EnvVar[] => [
  { name: "TE_CLUSTER_UID", value: clusterUid(engine.namespace, engine.name) },
  { name: "TE_INSTANCE_ID", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  {
    name: "TE_ADVERTISED_HOST",
    value: `$(TE_INSTANCE_ID).${childNames(engine.name).replicasService}.${engine.namespace}.svc`,
  },
  { name: "TE_DATA_DIR", value: paths.data },
  { name: "TE_CONFIG_FILE", value: paths.config },
  { name: "TE_TOKEN_FILE", value: paths.token },
  { name: "TE_CONTROL_ADDR", value: onAllAddresses(ports.control) },
  { name: "TE_ORDER_ADDR", value: onAllAddresses(ports.orders) },
  { name: "TE_REPLICATION_ADDR", value: onAllAddresses(ports.replication) },
  { name: "TE_DRAIN_DEADLINE_MS", value: String(drainDeadlineMs) },
];

const probe = (path: string, timing: Omit<Probe, "httpGet">): Probe => ({
  httpGet: { path, port: "control", scheme: "HTTP" },
  ...timing,
});

const probes = (): Pick<Container, "startupProbe" | "livenessProbe" | "readinessProbe"> => ({
  // Reading back a long journal takes its time; killing a replica in the middle of it only starts it again.
  startupProbe: probe("/startupz", { periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 3600 }),
  // Judges the process's own loop alone, and slowly: a restart never cures what a failover would.
  livenessProbe: probe("/livez", { periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 6 }),
  readinessProbe: probe("/readyz", { periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 2 }),
});

/** The API server keeps quantities as text; a number would look like drift. */
const asText = (amounts: Readonly<Record<string, string | number>>): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));

const requirements = ({ spec: { resources } }: Engine): types.input.core.v1.ResourceRequirements => ({
  ...(resources.requests === undefined ? {} : { requests: asText(resources.requests) }),
  ...(resources.limits === undefined ? {} : { limits: asText(resources.limits) }),
});

/** The engine's container. The image's entry point runs it. */
export const engineContainer = (engine: Engine): Container => ({
  name: containerName,
  image: engine.spec.image,
  imagePullPolicy: "IfNotPresent",
  env: environment(engine),
  ports: (["orders", "feed", "control", "replication"] as const).map((name) => ({
    name,
    containerPort: ports[name],
    protocol: "TCP",
  })),
  resources: requirements(engine),
  ...probes(),
  // An engine that ends on a bad record names it there; a crash without a word leaves its last lines.
  terminationMessagePolicy: "FallbackToLogsOnError",
  securityContext: restrictedContainer(),
  volumeMounts: [
    { name: volumeName, mountPath: paths.data },
    { name: configVolume, mountPath: dirname(paths.config), readOnly: true },
    { name: controlVolume, mountPath: dirname(paths.token), readOnly: true },
    { name: scratchVolume, mountPath: "/tmp" },
  ],
});
