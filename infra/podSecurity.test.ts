import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { types } from "@pulumi/kubernetes";
import { podTemplate } from "./engine/statefulSet.ts";
import { deployment } from "./platform/daemon.ts";
import { restrictedContainer, restrictedPod } from "./podSecurity.ts";
import { restrictedViolations } from "./testing/podSecurityStandard.ts";
import { sampleEngine } from "./testing/sampleEngine.ts";

type PodSpec = types.input.core.v1.PodSpec;
type Container = types.input.core.v1.Container;

const daemonPod = (): PodSpec => {
  const { spec } = structuredClone(
    deployment({ operatorImage: "operator:1", operatorNamespace: "enginekeeper-system", namespaces: ["trading"] }),
  ) as { spec: { template: { spec: PodSpec } } };
  return spec.template.spec;
};

const enginePod = (): PodSpec => (structuredClone(podTemplate(sampleEngine())) as { spec: PodSpec }).spec;

const pods: readonly (readonly [string, () => PodSpec])[] = [
  ["an engine", enginePod],
  ["the daemon", daemonPod],
];

describe("the pods of this product", () => {
  for (const [whose, pod] of pods) {
    it(`${whose} is admitted by the pod security level restricted`, () => {
      assert.deepEqual(restrictedViolations(pod()), []);
    });

    it(`${whose} writes to volumes only`, () => {
      const { containers } = pod() as { containers: { securityContext: { readOnlyRootFilesystem: boolean } }[] };
      assert.ok(containers.every(({ securityContext }) => securityContext.readOnlyRootFilesystem));
    });

    it(`${whose} runs as user, group and owner of files 65532`, () => {
      const { securityContext } = pod() as unknown as { securityContext: Record<string, unknown> };
      assert.deepEqual(
        [securityContext["runAsUser"], securityContext["runAsGroup"], securityContext["fsGroup"]],
        [65532, 65532, 65532],
      );
    });
  }
});

const container = (changes: Partial<Container> = {}): Container => ({
  name: "c",
  securityContext: restrictedContainer(),
  ...changes,
});

const pod = (changes: Partial<PodSpec> = {}): PodSpec => ({
  securityContext: restrictedPod(),
  containers: [container()],
  ...changes,
});

const security = (changes: types.input.core.v1.SecurityContext): Partial<PodSpec> => ({
  containers: [container({ securityContext: { ...restrictedContainer(), ...changes } })],
});

const cases: readonly (readonly [what: string, changes: Partial<PodSpec>, violations: readonly string[]])[] = [
  ["a restricted pod", {}, []],
  ["the node's network", { hostNetwork: true }, ["hostNetwork"]],
  ["the node's processes", { hostPID: true }, ["hostPID"]],
  ["a folder of the node", { volumes: [{ name: "v", hostPath: { path: "/" } }] }, ["volume of kind hostPath"]],
  [
    "a port of the node",
    { containers: [container({ ports: [{ containerPort: 1, hostPort: 1 }] })] },
    ["uses a port of the node"],
  ],
  ["a privileged container", security({ privileged: true }), ["privileged"]],
  [
    "a container that may gain rights",
    security({ allowPrivilegeEscalation: true }),
    ["allowPrivilegeEscalation is not false"],
  ],
  ["kept capabilities", security({ capabilities: {} }), ["capabilities are not all dropped"]],
  ["added capabilities", security({ capabilities: { drop: ["ALL"], add: ["SYS_ADMIN"] } }), ["capabilities are added"]],
  ["root by container", security({ runAsNonRoot: false, runAsUser: 0 }), ["runAsNonRoot is not true", "runs as root"]],
  ["root by pod", { securityContext: { ...restrictedPod(), runAsUser: 0 } }, ["runs as root"]],
  ["no seccomp profile", { securityContext: {} }, ["no seccomp profile"]],
  [
    "an unrestricted init container",
    { initContainers: [{ name: "i" }] },
    ["allowPrivilegeEscalation is not false", "capabilities are not all dropped"],
  ],
];

describe("the check for restricted", () => {
  for (const [what, changes, violations] of cases) {
    it(`${violations.length === 0 ? "admits" : "refuses"} ${what}`, () => {
      assert.deepEqual(restrictedViolations(pod(changes)), violations);
    });
  }
});
