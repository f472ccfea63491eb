import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clusterRole, clusterRoleBinding, clusterRules, engineRules, ownRules, role, roleBinding } from "./rbac.ts";

interface PlainRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const plain = (rules: ReturnType<typeof clusterRules>): readonly PlainRule[] =>
  structuredClone(rules) as unknown as readonly PlainRule[];

/** One line for each right on each resource, to be read like a permit. */
const permit = (rules: ReturnType<typeof clusterRules>): readonly string[] =>
  plain(rules)
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((apiGroup) =>
        resources.map(
          (resource) => `${apiGroup === "" ? "core" : apiGroup}/${resource}: ${[...verbs].sort().join(" ")}`,
        ),
      ),
    )
    .sort();

const everything = "create delete get list patch update watch";

describe("rights of the daemon", () => {
  it("outside its namespaces: to read two kinds", () => {
    assert.deepEqual(permit(clusterRules()), [
      "core/nodes: get list watch",
      "storage.k8s.io/storageclasses: get list watch",
    ]);
  });

  it("where engines are: what engines are made of, and no more", () => {
    assert.deepEqual(permit(engineRules()), [
      `apps/statefulsets: ${everything}`,
      `coordination.k8s.io/leases: ${everything}`,
      `core/configmaps: ${everything}`,
      "core/events: get list watch",
      `core/persistentvolumeclaims: ${everything}`,
      "core/pods: delete get list patch watch",
      `core/secrets: ${everything}`,
      `core/serviceaccounts: ${everything}`,
      `core/services: ${everything}`,
      "enginekeeper.dev/tradingengines/finalizers: update",
      "enginekeeper.dev/tradingengines/status: patch",
      "enginekeeper.dev/tradingengines: get list patch update watch",
      "events.k8s.io/events: create patch",
      `networking.k8s.io/networkpolicies: ${everything}`,
      `policy/poddisruptionbudgets: ${everything}`,
    ]);
  });

  it("at home: to elect who acts and to tell of it; no secret", () => {
    assert.deepEqual(permit(ownRules()), [
      "coordination.k8s.io/leases: create get list patch update watch",
      "events.k8s.io/events: create patch",
    ]);
  });

  it("have no wildcard, and no way to give itself more", () => {
    for (const { apiGroups, resources, verbs } of plain([...clusterRules(), ...engineRules(), ...ownRules()])) {
      for (const word of [...apiGroups, ...resources, ...verbs]) assert.ok(!word.includes("*"), word);
      for (const verb of ["bind", "escalate", "impersonate"]) assert.ok(!verbs.includes(verb), verb);
      assert.ok(!apiGroups.includes("rbac.authorization.k8s.io"));
      for (const resource of ["pods/exec", "serviceaccounts/token"]) assert.ok(!resources.includes(resource), resource);
    }
  });

  it("go to the daemon's ServiceAccount alone", () => {
    const subject = [{ kind: "ServiceAccount", name: "enginekeeper", namespace: "enginekeeper-system" }];
    assert.deepEqual(clusterRoleBinding("enginekeeper-system").subjects, subject);
    assert.deepEqual(roleBinding("trading", "enginekeeper-system").subjects, subject);
  });

  it("are bound where they are defined", () => {
    const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: "enginekeeper" });
    assert.deepEqual(clusterRoleBinding("enginekeeper-system").roleRef, roleRef("ClusterRole"));
    assert.deepEqual(roleBinding("trading", "enginekeeper-system").roleRef, roleRef("Role"));
    assert.equal((clusterRole().metadata as { name: string }).name, "enginekeeper");
    const { name, namespace } = role("trading", engineRules()).metadata as { name: string; namespace: string };
    assert.deepEqual([name, namespace], ["enginekeeper", "trading"]);
  });
});
