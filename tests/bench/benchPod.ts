/** A Pod of the size and shape that clusters are full of: about 2.3 kB, a third of it managedFields. */

export const podCount = 10_000;

/** Holds the sender's monotonic time in nanoseconds, which all processes of a machine share. */
export const sentAtAnnotation = "bench/sent-at";

const fieldsOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [`f:${name}`, { ".": {} }]));

export const benchPod = (index: number, resourceVersion: string) => {
  const name = `engine-${index}`;
  const annotations: Record<string, string> = { "prometheus.io/scrape": "true", "prometheus.io/port": "7070" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "trading",
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
      resourceVersion,
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { "app.kubernetes.io/name": "trading-engine", "app.kubernetes.io/instance": name, role: "standby" },
      annotations,
      managedFields: [
        {
          manager: "kube-controller-manager",
          operation: "Update",
          apiVersion: "v1",
          time: "2026-01-01T00:00:00Z",
          fieldsType: "FieldsV1",
          fieldsV1: {
            "f:metadata": fieldsOf(["labels", "annotations", "ownerReferences", "generateName"]),
            "f:spec": fieldsOf(["containers", "restartPolicy", "dnsPolicy", "schedulerName", "securityContext"]),
          },
        },
        {
          manager: "kubelet",
          operation: "Update",
          apiVersion: "v1",
          time: "2026-01-01T00:00:00Z",
          fieldsType: "FieldsV1",
          subresource: "status",
          fieldsV1: {
            "f:status": fieldsOf(["conditions", "containerStatuses", "hostIP", "phase", "podIP", "startTime"]),
          },
        },
      ],
    },
    spec: {
      containers: [
        {
          name: "engine",
          image: "registry.example.com/engine:1.2.3",
          command: ["node", "/app/engine/main.ts"],
          ports: [
            { name: "orders", containerPort: 7000, protocol: "TCP" },
            { name: "control", containerPort: 7070, protocol: "TCP" },
          ],
          resources: { requests: { cpu: "2", memory: "4Gi" }, limits: { memory: "4Gi" } },
          volumeMounts: [{ name: "data", mountPath: "/var/lib/engine" }],
        },
      ],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: `data-${name}` } }],
      nodeName: `node-${index % 100}`,
      restartPolicy: "Always",
      serviceAccountName: "engine",
    },
    status: {
      phase: "Running",
      podIP: "10.0.0.1",
      startTime: "2026-01-01T00:00:00Z",
      conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
        type,
        status: "True",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      })),
      containerStatuses: [
        {
          name: "engine",
          ready: true,
          restartCount: 0,
          image: "registry.example.com/engine:1.2.3",
          imageID:
            "registry.example.com/engine@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
          state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
        },
      ],
    },
  };
};
