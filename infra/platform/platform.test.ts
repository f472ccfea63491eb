import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { only, type Registered, runMocked } from "../testing/mocks.ts";
import { Platform } from "./platform.ts";

const installed = (namespaces: readonly string[] = ["trading", "fx"]) =>
  runMocked(() => {
    const { crd, deployment } = new Platform("enginekeeper", {
      operatorImage: "operator:1",
      operatorNamespace: "enginekeeper-system",
      namespaces,
      passphrase: pulumi.secret("words"),
    });
    return { crd, deployment };
  });

const metadata = ({ inputs }: Registered) =>
  inputs["metadata"] as { name: string; namespace?: string; annotations: Record<string, string> };

const expected = [
  "ClusterRole enginekeeper",
  "ClusterRoleBinding enginekeeper",
  "CustomResourceDefinition tradingengines.enginekeeper.dev",
  "Deployment enginekeeper-system/enginekeeper",
  "Namespace enginekeeper-system",
  "Namespace fx",
  "Namespace trading",
  "PodDisruptionBudget enginekeeper-system/enginekeeper",
  "Role enginekeeper-system/enginekeeper",
  "Role fx/enginekeeper",
  "Role trading/enginekeeper",
  "RoleBinding enginekeeper-system/enginekeeper",
  "RoleBinding fx/enginekeeper",
  "RoleBinding trading/enginekeeper",
  "Secret enginekeeper-system/enginekeeper-passphrase",
  "Service enginekeeper-system/enginekeeper-metrics",
  "ServiceAccount enginekeeper-system/enginekeeper",
];

describe("Platform", () => {
  it("installs exactly this, all within the component", async () => {
    const { resources } = await installed();
    const objects = resources.filter(({ type }) => type.startsWith("kubernetes:"));
    const seen = objects.map((object) => {
      assert.equal(object.parent, "enginekeeper");
      const { name, namespace } = metadata(object);
      return `${object.type.split(":").at(-1) ?? ""} ${namespace === undefined ? name : `${namespace}/${name}`}`;
    });
    assert.deepEqual(seen.sort(), expected);
  });

  it("tells the names of what others wait for", async () => {
    const { outputs } = await installed();
    assert.deepEqual(outputs, { crd: "tradingengines.enginekeeper.dev", deployment: "enginekeeper" });
  });

  it("writes every object as one field manager, so that a lost state is adopted again", async () => {
    const { resources } = await installed();
    for (const object of resources.filter(({ type }) => type.startsWith("kubernetes:"))) {
      assert.equal(metadata(object).annotations["pulumi.com/patchFieldManager"], "enginekeeper-platform", object.name);
    }
  });

  it("keeps what engines and their volumes live in when it is destroyed, and nothing else", async () => {
    const { resources } = await installed(["trading"]);
    const kept = resources.filter(({ options }) => options.retainOnDelete === true).map(({ name }) => name);
    assert.deepEqual(kept.sort(), ["enginekeeper-engines-trading", "enginekeeper-tradingengines"]);
  });

  it("starts the daemon after the kind, the rights and the passphrase that it needs", async () => {
    const { resources } = await installed(["trading"]);
    const { dependsOn } = only(resources, "kubernetes:apps/v1:Deployment", "enginekeeper-daemon").options;
    assert.ok(Array.isArray(dependsOn));
    assert.equal(dependsOn.length, 9, "kind, account, passphrase, and three roles with their bindings");
  });

  it("waits for the daemon, but not for ever", async () => {
    const { resources } = await installed(["trading"]);
    const daemon = only(resources, "kubernetes:apps/v1:Deployment", "enginekeeper-daemon");
    assert.equal(metadata(daemon).annotations["pulumi.com/skipAwait"], undefined);
    assert.deepEqual(daemon.options.customTimeouts, { create: "5m", update: "5m" });
  });

  it("hands the definition to the provider as the API server spells it", async () => {
    const { resources } = await installed(["trading"]);
    const crd = only(
      resources,
      "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
      "enginekeeper-tradingengines",
    );
    assert.match(JSON.stringify(crd.inputs["spec"]), /"x-kubernetes-validations"/);
  });
});
