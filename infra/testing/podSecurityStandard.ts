/**
 * The pod security level `restricted`, as far as pods of this product can break it: what the
 * API server would refuse, without an API server.
 */
import type { types } from "@pulumi/kubernetes";

type Container = types.input.core.v1.Container;
type PodSpec = types.input.core.v1.PodSpec;

/** Kinds of volumes that the level allows. */
const allowedVolumes = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** Our pod specs are plain data: none of their fields is an Output. */
const plain = (value: object): Record<string, unknown> => structuredClone(value) as Record<string, unknown>;

const at = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

const containerViolations = (pod: unknown, container: Container): readonly string[] => {
  const security = plain(container)["securityContext"];
  const drop = at(security, "capabilities", "drop");
  const add = at(security, "capabilities", "add");
  const seccomp = at(security, "seccompProfile", "type") ?? at(pod, "securityContext", "seccompProfile", "type");
  const nonRoot = at(security, "runAsNonRoot") ?? at(pod, "securityContext", "runAsNonRoot");
  const ports = plain(container)["ports"];
  const checks: readonly (readonly [broken: boolean, what: string])[] = [
    [at(security, "privileged") === true, "privileged"],
    [at(security, "allowPrivilegeEscalation") !== false, "allowPrivilegeEscalation is not false"],
    [!Array.isArray(drop) || !drop.includes("ALL"), "capabilities are not all dropped"],
    [Array.isArray(add) && add.some((name) => name !== "NET_BIND_SERVICE"), "capabilities are added"],
    [seccomp !== "RuntimeDefault" && seccomp !== "Localhost", "no seccomp profile"],
    [nonRoot !== true, "runAsNonRoot is not true"],
    [at(security, "runAsUser") === 0, "runs as root"],
    [Array.isArray(ports) && ports.some((port) => at(port, "hostPort") !== undefined), "uses a port of the node"],
  ];
  return checks.flatMap(([broken, what]) => (broken ? [what] : []));
};

/** What of `spec` the level `restricted` forbids; empty = admitted. */
export const restrictedViolations = (spec: PodSpec): readonly string[] => {
  const pod = plain(spec);
  const containers = ["initContainers", "containers"].flatMap((field) => (pod[field] ?? []) as Container[]);
  const volumes = (pod["volumes"] ?? []) as Record<string, unknown>[];
  return [
    ...["hostNetwork", "hostPID", "hostIPC"].filter((field) => pod[field] === true),
    ...(at(pod, "securityContext", "runAsUser") === 0 ? ["runs as root"] : []),
    ...volumes
      .flatMap((volume) => Object.keys(volume))
      .filter((key) => key !== "name" && !allowedVolumes.has(key))
      .map((kind) => `volume of kind ${kind}`),
    ...containers.flatMap((container) => containerViolations(pod, container)),
  ];
};
