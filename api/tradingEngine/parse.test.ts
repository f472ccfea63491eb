import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { explainProblems, type FieldProblem, parseSpec, parseTradingEngine } from "./index.ts";

const smallest = { tradingPair: "BTC/USDT", image: "registry.example.com/engine:1.0" };

const problemsOf = (input: unknown): readonly FieldProblem[] => {
  const parsed = parseSpec(input);
  return parsed.ok ? [] : parsed.problems;
};

describe("parseSpec", () => {
  it("needs only a pair and an image, and fills in the rest", () => {
    assert.deepEqual(parseSpec(smallest), {
      ok: true,
      value: {
        ...smallest,
        replicas: 3,
        storage: { size: "20Gi" },
        resources: {},
        config: { tickSize: "0.01", lotSize: "0.00001" },
        contract: { type: "http" },
        failoverStrategy: {
          mode: "Automatic",
          durability: "Strict",
          syncStandbys: 1,
          detectionMilliseconds: 1000,
          writeStallMilliseconds: 3000,
          maxLagRecords: 10_000,
        },
        upgradeStrategy: { type: "SwitchoverRolling" },
        deletionPolicy: { volumes: "Retain", deadlineSeconds: 600 },
        drift: { policy: "Correct" },
        paused: false,
        hibernate: false,
      },
    });
  });

  it("fills in what is left out beside what is given", () => {
    const parsed = parseSpec({
      ...smallest,
      failoverStrategy: { syncStandbys: 2 },
      backupPolicy: { schedule: "0 * * * *" },
    });
    assert.ok(parsed.ok);
    assert.equal(parsed.value.failoverStrategy.syncStandbys, 2);
    assert.equal(parsed.value.failoverStrategy.detectionMilliseconds, 1000);
    assert.deepEqual(parsed.value.backupPolicy, {
      schedule: "0 * * * *",
      timeZone: "Etc/UTC",
      method: "VolumeSnapshot",
      retention: { keepLast: 6, keepDaily: 7, keepWeekly: 4 },
    });
  });

  it("passes further keys of config on untouched", () => {
    const parsed = parseSpec({ ...smallest, config: { tickSize: "0.5", selfTrade: { prevent: true } } });
    assert.ok(parsed.ok);
    assert.deepEqual(parsed.value.config, { tickSize: "0.5", lotSize: "0.00001", selfTrade: { prevent: true } });
  });

  it("changes nothing when it parses its own result again", () => {
    const once = parseSpec(smallest);
    assert.ok(once.ok);
    assert.deepEqual(parseSpec(once.value), once);
  });

  it("reports every problem at its field, not only the first", () => {
    const paths = problemsOf({ tradingPair: "btc", image: "engine", replicas: 9 }).map(({ path }) => path);
    assert.deepEqual(paths, ["tradingPair", "image", "replicas"]);
  });

  it("says what is missing", () => {
    assert.deepEqual(problemsOf({ image: smallest.image }), [
      { path: "tradingPair", message: "is required, and must be of type string" },
    ]);
  });

  it("refuses a misspelt field and names it", () => {
    assert.deepEqual(problemsOf({ ...smallest, replica: 5, failoverStrategy: { sync: 1 } }), [
      { path: "failoverStrategy", message: 'unknown field "sync": remove or correct it' },
      { path: "", message: 'unknown field "replica": remove or correct it' },
    ]);
  });

  for (const input of [undefined, null, "BTC/USDT", 3, []]) {
    it(`refuses ${JSON.stringify(input)} as a whole`, () => {
      assert.deepEqual(
        problemsOf(input).map(({ path }) => path),
        [""],
      );
    });
  }
});

describe("explainProblems", () => {
  it("writes one problem a line, with its field if it has one", () => {
    const text = explainProblems([
      { path: "spec.replicas", message: "too many" },
      { path: "", message: "unknown field" },
    ]);
    assert.equal(text, "spec.replicas: too many\nunknown field");
  });
});

describe("parseTradingEngine", () => {
  const stored = {
    apiVersion: "enginekeeper.dev/v1alpha1",
    kind: "TradingEngine",
    metadata: {
      name: "btc-usdt",
      namespace: "trading",
      uid: "u-1",
      resourceVersion: "7",
      generation: 1,
      managedFields: [{ manager: "kubectl" }],
    },
    spec: smallest,
    status: { epoch: 4, replicas: [{ name: "btc-usdt-0", role: "Primary", ready: true, inSync: false }] },
  };

  it("reads an object of the API server, its status and metadata included", () => {
    const parsed = parseTradingEngine(stored);
    assert.ok(parsed.ok);
    assert.equal(parsed.value.metadata.name, "btc-usdt");
    assert.equal(parsed.value.spec.replicas, 3);
    assert.equal(parsed.value.status?.epoch, 4);
  });

  it("ignores fields of a newer schema, wherever they are, and leaves its input alone", () => {
    const newer = structuredClone({
      ...stored,
      spec: { ...smallest, invented: true, storage: { size: "1Gi", tier: "hot" } },
      status: { ...stored.status, replicas: [{ ...stored.status.replicas[0], zone: "a" }] },
    });
    const before = structuredClone(newer);
    const parsed = parseTradingEngine(newer);
    assert.ok(parsed.ok);
    assert.deepEqual(parsed.value.spec.storage, { size: "1Gi" });
    assert.deepEqual(parsed.value.status, stored.status);
    assert.deepEqual(newer, before);
  });

  it("names the field of the object that cannot be used", () => {
    const parsed = parseTradingEngine({ ...stored, spec: { ...smallest, image: "engine", invented: true } });
    assert.ok(!parsed.ok);
    assert.deepEqual(
      parsed.problems.map(({ path }) => path),
      ["spec.image"],
    );
  });

  it("writes list positions in brackets", () => {
    const parsed = parseTradingEngine({ ...stored, status: { replicas: [{ name: "a", role: "King" }] } });
    assert.ok(!parsed.ok);
    assert.ok(parsed.problems.some(({ path }) => path === "status.replicas[0].role"));
  });
});
