import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { replicaHost } from "../../api/names.ts";
import { sampleEngine } from "../testing/sampleEngine.ts";
import { engineContainer, terminationGracePeriodSeconds } from "./container.ts";

interface PlainProbe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}
interface PlainContainer {
  readonly image: string;
  readonly command?: unknown;
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly resources: Record<string, unknown>;
  readonly startupProbe: PlainProbe;
  readonly livenessProbe: PlainProbe;
  readonly readinessProbe: PlainProbe;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

const container = (...engine: Parameters<typeof sampleEngine>): PlainContainer =>
  structuredClone(engineContainer(sampleEngine(...engine))) as unknown as PlainContainer;

/** What Kubernetes makes of the environment in pod `pod`. */
const environmentOf = (pod: string): Record<string, string> => {
  const seen: Record<string, string> = {};
  for (const { name, value } of container().env) {
    seen[name] =
      value === undefined ? pod : value.replaceAll(/\$\(([A-Z_]+)\)/g, (_, other: string) => seen[other] ?? "unset");
  }
  return seen;
};

describe("the engine's container", () => {
  it("tells a replica who and where it is", () => {
    assert.deepEqual(environmentOf("btc-usdt-1"), {
      TE_CLUSTER_UID: "trading/btc-usdt",
      TE_INSTANCE_ID: "btc-usdt-1",
      TE_ADVERTISED_HOST: replicaHost("trading", "btc-usdt", 1),
      TE_DATA_DIR: "/var/lib/engine",
      TE_CONFIG_FILE: "/etc/engine/config/config.json",
      TE_TOKEN_FILE: "/etc/engine/control/token",
      TE_CONTROL_ADDR: "0.0.0.0:7070",
      TE_ORDER_ADDR: "0.0.0.0:7000",
      TE_REPLICATION_ADDR: "0.0.0.0:7080",
      TE_DRAIN_DEADLINE_MS: "20000",
    });
  });

  it("is killed only after the engine's own deadline for a hand-over has passed", () => {
    const drain = Number(environmentOf("btc-usdt-0")["TE_DRAIN_DEADLINE_MS"]);
    assert.ok(terminationGracePeriodSeconds * 1000 > drain);
  });

  it("runs the image's entry point", () => {
    assert.equal(container().image, "registry.example.com/engine:1.2.3");
    assert.equal(container().command, undefined);
  });

  it("mounts the folders that the environment names", () => {
    const { volumeMounts } = container();
    const environment = environmentOf("btc-usdt-0");
    const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
    assert.deepEqual(writable, [environment["TE_DATA_DIR"], "/tmp"]);
    for (const file of ["TE_CONFIG_FILE", "TE_TOKEN_FILE"]) {
      const inside = volumeMounts.find(({ mountPath }) => environment[file]?.startsWith(`${mountPath}/`));
      assert.equal(inside?.readOnly, true, file);
    }
  });

  for (const [probe, path] of [
    ["startupProbe", "/startupz"],
    ["livenessProbe", "/livez"],
    ["readinessProbe", "/readyz"],
  ] as const) {
    it(`has a ${probe} at ${path} of the control port`, () => {
      assert.deepEqual(container()[probe].httpGet, { path, port: "control", scheme: "HTTP" });
    });
  }

  it("gives a long journal an hour to be read back before it is killed", () => {
    const { periodSeconds, failureThreshold } = container().startupProbe;
    assert.equal(periodSeconds * failureThreshold, 3600);
  });

  for (const [what, given, expected] of [
    [
      "requests and limits",
      { requests: { cpu: 2, memory: "4Gi" }, limits: { cpu: "4" } },
      { requests: { cpu: "2", memory: "4Gi" }, limits: { cpu: "4" } },
    ],
    ["requests alone", { requests: { cpu: "100m" } }, { requests: { cpu: "100m" } }],
    ["nothing", {}, {}],
  ] as const) {
    it(`gets the spec's resources: ${what}`, () => {
      assert.deepEqual(container({ resources: given }).resources, expected);
    });
  }
});
