/**
 * What the daemon may do: outside the namespaces it was given, read two kinds; inside, write
 * what engines are made of and nothing else.
 */
import type { types } from "@pulumi/kubernetes";
import { group, tradingEnginePlural } from "../../api/names.ts";
import { operatorName, platformMetadata } from "./metadata.ts";

type PolicyRule = types.input.rbac.v1.PolicyRule;
type Role = types.input.rbac.v1.Role;
type RoleBinding = types.input.rbac.v1.RoleBinding;

const read = ["get", "list", "watch"];
const everything = [...read, "create", "update", "patch", "delete"];

const rule = (apiGroup: string, resources: string[], verbs: string[]): PolicyRule => ({
  apiGroups: [apiGroup],
  resources,
  verbs: [...verbs],
});

/** Facts about nodes and volumes that explain why a replica cannot run. */
export const clusterRules = (): PolicyRule[] => [
  rule("", ["nodes"], read),
  rule("storage.k8s.io", ["storageclasses"], read),
];

/** In each namespace of engines. */
export const engineRules = (): PolicyRule[] => [
  rule(group, [tradingEnginePlural], [...read, "update", "patch"]),
  rule(group, [`${tradingEnginePlural}/status`], ["patch"]),
  // Asked for by clusters that check who may set blockOwnerDeletion on the children.
  rule(group, [`${tradingEnginePlural}/finalizers`], ["update"]),
  rule("", ["pods"], [...read, "patch", "delete"]),
  rule("", ["services", "configmaps", "secrets", "persistentvolumeclaims", "serviceaccounts"], everything),
  rule("apps", ["statefulsets"], everything),
  rule("policy", ["poddisruptionbudgets"], everything),
  rule("networking.k8s.io", ["networkpolicies"], everything),
  rule("coordination.k8s.io", ["leases"], everything),
  rule("events.k8s.io", ["events"], ["create", "patch"]),
  // The Kubernetes provider watches the events of what it writes, and hangs without the right to.
  rule("", ["events"], read),
];

/** In the daemon's own namespace: to elect the replica that acts. */
export const ownRules = (): PolicyRule[] => [
  rule("coordination.k8s.io", ["leases"], [...read, "create", "update", "patch"]),
  rule("events.k8s.io", ["events"], ["create", "patch"]),
];

export const clusterRole = (): types.input.rbac.v1.ClusterRole => ({
  metadata: platformMetadata(operatorName),
  rules: clusterRules(),
});

export const role = (namespace: string, rules: PolicyRule[]): Role => ({
  metadata: platformMetadata(operatorName, namespace),
  rules,
});

const bound = (kind: "ClusterRole" | "Role", operatorNamespace: string): Pick<RoleBinding, "roleRef" | "subjects"> => ({
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: operatorName },
  subjects: [{ kind: "ServiceAccount", name: operatorName, namespace: operatorNamespace }],
});

export const clusterRoleBinding = (operatorNamespace: string): types.input.rbac.v1.ClusterRoleBinding => ({
  metadata: platformMetadata(operatorName),
  ...bound("ClusterRole", operatorNamespace),
});

export const roleBinding = (namespace: string, operatorNamespace: string): RoleBinding => ({
  metadata: platformMetadata(operatorName, namespace),
  ...bound("Role", operatorNamespace),
});
