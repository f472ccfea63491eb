import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "../orders/config.ts";
import { type OrderClientSpec, orderClientNetworkPolicy, orderClientPod } from "./orderClientPod.ts";

const spec: OrderClientSpec = {
  namespace: "trading",
  engine: "btc-usdt",
  replicas: 3,
  image: "engine:1",
  run: "btc-usdt-orders-1a2b3c",
  ratePerSecond: 250,
  workers: 4,
  seed: 9,
  via: "replicas",
  tickSize: "0.5",
  lotSize: "0.001",
};

const containerOf = (of: OrderClientSpec) => {
  const container = orderClientPod(of).spec?.containers?.[0];
  assert.ok(container !== undefined);
  return container;
};

const configOf = (of: OrderClientSpec) =>
  readConfig(Object.fromEntries((containerOf(of).env ?? []).map(({ name = "", value = "" }) => [name, value])));

describe("the order client's pod", () => {
  it("is told of every replica and of the engine's trading rules, in words that the program understands", () => {
    const { client, controlEndpoints, tokenFile } = configOf(spec);
    assert.deepEqual(client.destination, {
      kind: "replicas",
      targets: [0, 1, 2].map((ordinal) => `btc-usdt-${ordinal}.btc-usdt-replicas.trading.svc:7000`),
    });
    assert.deepEqual(controlEndpoints[2], {
      instance: "btc-usdt-2",
      address: "btc-usdt-2.btc-usdt-replicas.trading.svc:7070",
    });
    assert.equal(tokenFile, "/etc/orders/control/token");
    const { run, ratePerSecond, workers, seed, mix } = client;
    assert.deepEqual([run, ratePerSecond, workers, seed], ["btc-usdt-orders-1a2b3c", 250, 4, 9]);
    assert.deepEqual([mix.tickSize, mix.lotSize], ["0.5", "0.001"]);
  });

  it("knows only the Service when it goes through that", () => {
    const { destination } = configOf({ ...spec, via: "service" }).client;
    assert.deepEqual(destination, { kind: "service", target: "btc-usdt.trading.svc:7000" });
  });

  it("passes the pod security level restricted", () => {
    const pod = orderClientPod(spec).spec;
    assert.equal(pod?.securityContext?.runAsNonRoot, true);
    assert.equal(pod.securityContext.seccompProfile?.type, "RuntimeDefault");
    const { securityContext } = containerOf(spec);
    assert.equal(securityContext?.allowPrivilegeEscalation, false);
    assert.deepEqual(securityContext.capabilities?.drop, ["ALL"]);
    assert.equal(pod.automountServiceAccountToken, false);
  });

  it("may reach the control ports of its engine, and takes that right with it", () => {
    const pod = orderClientPod(spec);
    const policy = orderClientNetworkPolicy(spec, "uid-1");
    assert.equal(policy.metadata.ownerReferences?.[0]?.uid, "uid-1");
    const [rule] = policy.spec?.ingress ?? [];
    assert.deepEqual(rule?.ports, [{ protocol: "TCP", port: 7070 }]);
    assert.deepEqual(rule.from?.[0]?.podSelector?.matchLabels, pod.metadata.labels);
    assert.equal(policy.spec?.podSelector?.matchLabels?.["enginekeeper.dev/engine"], "btc-usdt");
  });
});
