import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PlatformSettings } from "./config.ts";
import { deployment, metricsService, operatorAccount, operatorBudget, passphraseSecret } from "./daemon.ts";
import { restrictedNamespace } from "./namespaces.ts";

const settings: PlatformSettings = {
  operatorImage: "registry.example.com/operator:1",
  operatorNamespace: "enginekeeper-system",
  namespaces: ["trading", "fx"],
};

interface PlainContainer {
  readonly image: string;
  readonly command?: unknown;
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources: unknown;
  readonly livenessProbe: { readonly httpGet: unknown };
  readonly readinessProbe: { readonly httpGet: unknown };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}
interface PlainDeployment {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: Record<string, string> };
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: {
        readonly containers: readonly [PlainContainer];
        readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
      };
    };
  };
}

const plain = structuredClone(deployment(settings)) as unknown as PlainDeployment;
const { template, selector, replicas } = plain.spec;
const [container] = template.spec.containers;
const variable = (name: string) => container.env.find((each) => each.name === name);

describe("the daemon's Deployment", () => {
  it("is this object", (test) => {
    test.assert.snapshot(deployment(settings));
  });

  it("has a second replica that is ready to act, and selects the pods that it makes", () => {
    assert.equal(replicas, 2);
    for (const [key, value] of Object.entries(selector.matchLabels)) assert.equal(template.metadata.labels[key], value);
  });

  it("runs the image's entry point", () => {
    assert.equal(container.image, "registry.example.com/operator:1");
    assert.equal(container.command, undefined);
  });

  it("tells the daemon where it is and which namespaces it keeps", () => {
    assert.equal(variable("EK_NAMESPACES")?.value, "trading,fx");
    assert.deepEqual(variable("EK_NAMESPACE")?.valueFrom, { fieldRef: { fieldPath: "metadata.namespace" } });
    assert.deepEqual(variable("EK_POD_NAME")?.valueFrom, { fieldRef: { fieldPath: "metadata.name" } });
  });

  it("gives the passphrase as a file from the Secret, never as a variable", () => {
    const file = variable("PULUMI_CONFIG_PASSPHRASE_FILE")?.value ?? "";
    const mount = container.volumeMounts.find(({ mountPath }) => file.startsWith(`${mountPath}/`));
    const source = template.spec.volumes.find(({ name }) => name === mount?.name);
    const secret = passphraseSecret("enginekeeper-system", "words");
    assert.equal(source?.secret?.secretName, (secret.metadata as { name: string }).name);
    assert.deepEqual(secret.stringData, { [file.split("/").at(-1) ?? ""]: "words" });
    assert.equal(variable("PULUMI_CONFIG_PASSPHRASE"), undefined);
  });

  it("can write to /tmp alone", () => {
    const writable = container.volumeMounts.filter(({ readOnly }) => readOnly !== true);
    assert.deepEqual(writable, [{ name: "tmp", mountPath: "/tmp" }]);
  });

  it("is asked for its health on 8081 and for metrics on 8080", () => {
    assert.deepEqual(
      container.ports.map(({ name, containerPort }) => [name, containerPort]),
      [
        ["metrics", 8080],
        ["health", 8081],
      ],
    );
    assert.deepEqual(container.livenessProbe.httpGet, { path: "/healthz", port: "health" });
    assert.deepEqual(container.readinessProbe.httpGet, { path: "/readyz", port: "health" });
  });

  it("has a limit of memory and none of cpu, which would throttle a failover", () => {
    assert.deepEqual(container.resources, {
      requests: { cpu: "250m", memory: "512Mi" },
      limits: { memory: "1Gi" },
    });
  });
});

describe("what stands around the daemon", () => {
  it("lets a drain take one replica at a time", () => {
    assert.deepEqual(operatorBudget("x").spec, { maxUnavailable: 1, selector });
  });

  it("shows Prometheus each replica's metrics", () => {
    const { spec } = structuredClone(metricsService("x")) as unknown as {
      spec: { clusterIP: string; selector: unknown; ports: { port: number }[] };
    };
    assert.deepEqual(
      [spec.clusterIP, spec.selector, spec.ports.map(({ port }) => port)],
      ["None", selector.matchLabels, [8080]],
    );
  });

  it("gives an access token only to pods that ask for it", () => {
    assert.equal(operatorAccount("x").automountServiceAccountToken, false);
  });

  it("admits restricted pods only, wherever the platform runs pods", () => {
    const { labels } = restrictedNamespace("trading").metadata as { labels: Record<string, string> };
    assert.equal(labels["pod-security.kubernetes.io/enforce"], "restricted");
  });
});
