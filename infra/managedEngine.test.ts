import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { annotations, fieldManagers } from "../api/names.ts";
import { managedEngine, tradingEngineObject } from "./managedEngine.ts";
import type { PairConfig } from "./pairConfig.ts";
import { only, runMocked } from "./testing/mocks.ts";
import { sampleSpec } from "./testing/sampleEngine.ts";

const type = "kubernetes:enginekeeper.dev/v1alpha1:TradingEngine";

const pair = (image = "registry.example.com/engine:1"): PairConfig => ({
  mode: "managed",
  namespace: "trading",
  engine: "btc-usdt",
  operatorNamespace: "enginekeeper-system",
  spec: sampleSpec({ image, deletionPolicy: { deadlineSeconds: 900 } }),
  written: { tradingPair: "BTC/USDT", image },
});

const metadataOf = (config: PairConfig) =>
  tradingEngineObject(config).metadata as { name: string; namespace: string; annotations: Record<string, string> };

const applied = (live: Readonly<Record<string, unknown>>) =>
  runMocked(() => ({ ...managedEngine(pair()) }), { project: "trading", live: { "btc-usdt-live": live } });

describe("the TradingEngine object of a pair", () => {
  it("says what the stack's configuration says and nothing else", () => {
    const { name, namespace } = metadataOf(pair());
    assert.deepEqual([name, namespace], ["btc-usdt", "trading"]);
    assert.deepEqual(tradingEngineObject(pair())["spec"], {
      tradingPair: "BTC/USDT",
      image: "registry.example.com/engine:1",
    });
  });

  it("is written by the stack's own field manager", () => {
    assert.equal(metadataOf(pair()).annotations["pulumi.com/patchFieldManager"], fieldManagers.pair);
  });

  it("is waited for until it is Ready and this very change is in place", () => {
    const { annotations: given } = metadataOf(pair());
    assert.deepEqual(JSON.parse(given["pulumi.com/waitFor"] ?? ""), [
      "condition=Ready",
      `jsonpath={.status.settledRollout}=${given[annotations.rollout] ?? ""}`,
    ]);
  });

  it("names another rollout for each change, and the same for none", () => {
    const rollout = (config: PairConfig) => metadataOf(config).annotations[annotations.rollout];
    assert.equal(rollout(pair()), rollout(pair()));
    assert.notEqual(rollout(pair()), rollout(pair("registry.example.com/engine:2")));
  });

  it("is deleted in the background: in the foreground the garbage collector would take the replicas first", () => {
    assert.equal(metadataOf(pair()).annotations["pulumi.com/deletionPropagationPolicy"], "background");
  });

  it("has time to become ready, and on deletion more time than the engine has for its end", async () => {
    const { resources } = await applied({});
    assert.deepEqual(only(resources, type, "btc-usdt").options.customTimeouts, {
      create: "300s",
      update: "300s",
      delete: "1020s",
    });
  });
});

describe("the outputs of a pair", () => {
  it("are what the live object says now", async () => {
    const status = { endpoint: { orders: "btc-usdt.trading.svc:7000" }, primary: "btc-usdt-2", epoch: 5 };
    const { outputs } = await applied({ status });
    assert.deepEqual(outputs, status);
  });

  it("are null while nothing is known", async () => {
    assert.deepEqual((await applied({})).outputs, { endpoint: null, primary: null, epoch: null });
  });

  it("are read from the object that was applied, after it", async () => {
    const { resources } = await applied({});
    const { id, dependsOn } = only(resources, type, "btc-usdt-live").options;
    assert.ok(id !== undefined && dependsOn !== undefined);
  });
});
