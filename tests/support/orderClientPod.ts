import { childNames, labels, labelValues, ports, replicaHost } from "../../api/names.ts";
import type { Draft, NetworkPolicy, Pod } from "../../reconciler/kube/index.ts";
import { defaultPort } from "../orders/config.ts";

export interface OrderClientSpec {
  readonly namespace: string;
  readonly engine: string;
  readonly replicas: number;
  /** The engine's image: it holds the order client too. */
  readonly image: string;
  /** Starts the name of the pod and every client id. Different for each run. */
  readonly run: string;
  readonly ratePerSecond: number;
  readonly workers: number;
  readonly seed: number;
  /** `service` sends everything through the engine's Service instead of to the replicas. */
  readonly via: "replicas" | "service";
  /** Of the engine's config. */
  readonly tickSize: string;
  readonly lotSize: string;
}

const tokenFolder = "/etc/orders/control";
const appName = "order-client";

/** A pod that sends orders to `engine`; it passes the pod security level `restricted`. */
export function orderClientPod(spec: OrderClientSpec): Draft<Pod> {
  return {
    metadata: { name: spec.run, namespace: spec.namespace, labels: podLabels(spec) },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        fsGroup: 65532,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          name: "orders",
          image: spec.image,
          imagePullPolicy: "IfNotPresent",
          command: ["node", "/app/tests/orders/main.ts"],
          env: Object.entries(environment(spec)).map(([name, value]) => ({ name, value })),
          ports: [{ name: "control", containerPort: defaultPort }],
          readinessProbe: { httpGet: { path: "/healthz", port: defaultPort }, periodSeconds: 1 },
          resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "768Mi" } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          volumeMounts: [{ name: "control", mountPath: tokenFolder, readOnly: true }],
        },
      ],
      volumes: [{ name: "control", secret: { secretName: childNames(spec.engine).controlSecret, defaultMode: 0o440 } }],
    },
  };
}

/**
 * Lets the client's pod reach the replicas' control ports, which an engine opens to its
 * operator only. Owned by the pod, so that it goes with it.
 */
export function orderClientNetworkPolicy(spec: OrderClientSpec, podUid: string): Draft<NetworkPolicy> {
  return {
    metadata: {
      name: spec.run,
      namespace: spec.namespace,
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: spec.run, uid: podUid }],
    },
    spec: {
      podSelector: { matchLabels: { [labels.name]: labelValues.name, [labels.engine]: spec.engine } },
      policyTypes: ["Ingress"],
      ingress: [
        {
          from: [{ podSelector: { matchLabels: podLabels(spec) } }],
          ports: [{ protocol: "TCP", port: ports.control }],
        },
      ],
    },
  };
}

const podLabels = (spec: OrderClientSpec): Record<string, string> => ({
  [labels.name]: appName,
  [labels.instance]: spec.run,
  [labels.partOf]: labelValues.partOf,
});

function environment(spec: OrderClientSpec): Record<string, string> {
  const ordinals = Array.from({ length: spec.replicas }, (_, ordinal) => ordinal);
  const { pod, primaryService } = childNames(spec.engine);
  const host = (ordinal: number) => replicaHost(spec.namespace, spec.engine, ordinal);
  return {
    ORDERS_RUN: spec.run,
    ORDERS_RATE: String(spec.ratePerSecond),
    ORDERS_WORKERS: String(spec.workers),
    ORDERS_SEED: String(spec.seed),
    ORDERS_TICK_SIZE: spec.tickSize,
    ORDERS_LOT_SIZE: spec.lotSize,
    ORDERS_TOKEN_FILE: `${tokenFolder}/token`,
    ORDERS_CONTROL: ordinals.map((ordinal) => `${pod(ordinal)}=${host(ordinal)}:${ports.control}`).join(","),
    ...(spec.via === "service"
      ? { ORDERS_SERVICE: `${primaryService}.${spec.namespace}.svc:${ports.orders}` }
      : { ORDERS_REPLICAS: ordinals.map((ordinal) => `${host(ordinal)}:${ports.orders}`).join(",") }),
  };
}
