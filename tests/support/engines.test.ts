import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Condition, parseSpec, type TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import { conditionOf, describeEngine, isSettled, type TradingEngineObject } from "./engines.ts";

const parsed = parseSpec({ tradingPair: "BTC/USDT", image: "engine:1" });
assert.ok(parsed.ok);
const spec = parsed.value;

const ready: Condition = {
  type: "Ready",
  status: "True",
  reason: "Trading",
  message: "The primary accepts orders.",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};

const progressing: Condition = {
  type: "Progressing",
  status: "False",
  reason: "Complete",
  message: "Every replica runs what the spec wants.",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};

const settled: TradingEngineStatus = {
  observedGeneration: 2,
  readyReplicas: 3,
  primary: "e-0",
  conditions: [ready, progressing],
};

const engine = (status?: TradingEngineStatus): TradingEngineObject => ({
  apiVersion: "enginekeeper.dev/v1alpha1",
  kind: "TradingEngine",
  metadata: {
    name: "e",
    namespace: "trading",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
    generation: 2,
  },
  spec,
  ...(status === undefined ? {} : { status }),
});

describe("isSettled", () => {
  it("is true of an engine that trades with every replica ready", () => assert.equal(isSettled(engine(settled)), true));

  const unsettled: { name: string; status?: TradingEngineStatus }[] = [
    { name: "nothing is known of it" },
    { name: "the status is about an older spec", status: { ...settled, observedGeneration: 1 } },
    { name: "a replica is missing", status: { ...settled, readyReplicas: 2 } },
    { name: "it has no primary", status: { ...settled, primary: "" } },
    { name: "it is not Ready", status: { ...settled, conditions: [{ ...ready, status: "False" }, progressing] } },
    {
      name: "replicas are still to be replaced",
      status: { ...settled, conditions: [ready, { ...progressing, status: "True", reason: "Updating" }] },
    },
  ];
  for (const { name, status } of unsettled) {
    it(`is false while ${name}`, () => assert.equal(isSettled(engine(status)), false));
  }
});

describe("describeEngine", () => {
  it("tells generation, leader and why", () => {
    const text = JSON.stringify(describeEngine(engine(settled)));
    assert.match(text, /"2 of 2"/);
    assert.match(text, /"primary":"e-0"/);
    assert.match(text, /Ready=True Trading: The primary accepts orders\./);
  });

  it("has something to say of an engine without status", () => {
    assert.match(JSON.stringify(describeEngine(engine())), /"0 of 2"/);
    assert.equal(conditionOf(engine(), "Ready"), undefined);
  });
});
