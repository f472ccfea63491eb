/**
 * The CRD as a real API server reads it. Writes are dry runs where only the answer matters.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { tradingEngineCrd } from "../../api/crd/index.ts";
import type { StructuralSchema } from "../../api/crd/structuralSchema.ts";
import { parseSpec, parseTradingEngine } from "../../api/tradingEngine/index.ts";
import { type ApiAnswer, type ApiClient, connectApiClient } from "./apiClient.ts";
import { goodSpecs, ruleCases, type SpecPatch, validSpec } from "./ruleCases.ts";
import { type ApiServer, startApiServer } from "./startApiServer.ts";
import {
  causesOf,
  installTradingEngineCrd,
  tradingEngine,
  tradingEngineReference,
  tradingEnginesPath,
} from "./tradingEngines.ts";

const dryRun = `${tradingEnginesPath}?dryRun=All&fieldValidation=Strict`;
const mergePatch = { content: "application/merge-patch+json" };
const applyPatch = { content: "application/apply-patch+yaml" };
/** What kubectl asks for to print columns. */
const asTable = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const table = z.object({
  columnDefinitions: z.array(z.object({ name: z.string() })),
  rows: z.array(z.object({ cells: z.array(z.unknown()) })),
});

const messagesIn = (schema: StructuralSchema): readonly string[] => [
  ...(schema["x-kubernetes-validations"] ?? []).map(({ message }) => message),
  ...Object.values(schema.properties ?? {}).flatMap(messagesIn),
  ...(schema.items === undefined ? [] : messagesIn(schema.items)),
  ...(schema.additionalProperties === undefined ? [] : messagesIn(schema.additionalProperties)),
];

/** "resources.requests[memory]", as the API server writes a map's key, in the form of our own parser. */
const plainField = (field: string): string => field.replaceAll(/\[([a-z]+)\]/g, ".$1");

describe("TradingEngine on a real API server", () => {
  let server: ApiServer;
  let client: ApiClient;
  /** Every message that a rule gave in this run. */
  const heard = new Set<string>();

  const listen = (answer: ApiAnswer): ApiAnswer => {
    for (const { message } of causesOf(answer.body)) heard.add(message);
    return answer;
  };
  const tryCreate = async (spec: SpecPatch, name = "btc-usdt"): Promise<ApiAnswer> =>
    listen(await client.call("POST", dryRun, tradingEngine(name, { ...validSpec, ...spec })));
  const create = async (name: string, spec: SpecPatch = {}): Promise<string> => {
    const { status, body } = await client.call(
      "POST",
      tradingEnginesPath,
      tradingEngine(name, { ...validSpec, ...spec }),
    );
    assert.equal(status, 201, JSON.stringify(body));
    return `${tradingEnginesPath}/${name}`;
  };
  const patch = async (path: string, body: object): Promise<ApiAnswer> =>
    listen(await client.call("PATCH", path, body, mergePatch));

  before(async () => {
    server = await startApiServer();
    client = await connectApiClient(server);
    await installTradingEngineCrd(client);
  });
  after(async () => {
    await client.close();
    await server.stop();
  });

  describe("accepts", () => {
    for (const [name, spec] of Object.entries(goodSpecs)) {
      it(`${name}, and applies the same defaults as parseSpec`, async () => {
        const { status, body } = await tryCreate(spec);
        assert.equal(status, 201, JSON.stringify(body));
        const stored = z.object({ spec: z.unknown() }).parse(body).spec;
        assert.deepEqual({ ok: true, value: stored }, parseSpec({ ...validSpec, ...spec }));
      });
    }
  });

  describe("refuses, as parseSpec does,", () => {
    for (const { name, spec, field, says } of ruleCases) {
      it(`${name}: "${says}"`, async () => {
        const { status, body } = await tryCreate(spec);
        assert.equal(status, 422);
        const cause = causesOf(body).find(({ message }) => message.includes(says));
        assert.ok(cause !== undefined, JSON.stringify(body));
        assert.equal(plainField(cause.field), `spec.${field}`);

        const parsed = parseSpec({ ...validSpec, ...spec });
        assert.ok(!parsed.ok);
        const problem = parsed.problems.find(({ message }) => message.includes(says));
        assert.equal(problem?.path, field);
        assert.ok(cause.message.endsWith(problem.message), `two messages: ${cause.message} / ${problem.message}`);
      });
    }
  });

  describe("refuses a name that its children could not carry", () => {
    const names: readonly (readonly [string, string])[] = [
      ["b".repeat(41), "at most 40 characters"],
      ["1inch-usdt", "must start with a letter"],
      ["btc.usdt", "must start with a letter"],
    ];
    for (const [name, says] of names) {
      it(name, async () => {
        const { status, body } = await tryCreate({}, name);
        assert.equal(status, 422);
        assert.ok(
          causesOf(body).some(({ message }) => message.includes(says)),
          JSON.stringify(body),
        );
      });
    }

    it("and takes one of 40 characters", async () => assert.equal((await tryCreate({}, "b".repeat(40))).status, 201));
  });

  describe("guards changes", () => {
    it("never lets the pair change", async () => {
      const path = await create("pair-change");
      const { status, body } = await patch(path, { spec: { tradingPair: "ETH/USDT" } });
      assert.equal(status, 422);
      assert.equal(causesOf(body)[0]?.field, "spec.tradingPair");
      assert.match(causesOf(body)[0]?.message ?? "", /create another TradingEngine/);
    });

    const volumeChanges: readonly (readonly [string, object, string])[] = [
      ["a smaller volume", { storage: { size: "10Gi" } }, "storage.size never shrinks"],
      ["another class", { storageClassName: "slow" }, "storageClassName cannot change"],
      ["no class", { storageClassName: null }, "storageClassName cannot change"],
    ];
    for (const [index, [name, change, says]] of volumeChanges.entries()) {
      it(`lets ${name} be asked for until the engine has traded, and says what to do after that`, async () => {
        const path = await create(`volume-${index}`, { storageClassName: "fast" });
        assert.equal((await patch(`${path}?dryRun=All`, { spec: change })).status, 200);

        assert.equal((await patch(`${path}/status`, { status: { epoch: 1 } })).status, 200);
        const { status, body } = await patch(`${path}?dryRun=All`, { spec: change });
        assert.equal(status, 422);
        assert.ok(
          causesOf(body).some(({ message }) => message.includes(says)),
          JSON.stringify(body),
        );
      });
    }

    it("lets volumes grow and everything else change while the engine trades", async () => {
      const path = await create("grow", { storageClassName: "fast" });
      await patch(`${path}/status`, { status: { epoch: 3 } });
      const change = { storage: { size: "1Ti" }, replicas: 5, image: "engine:2", config: { depth: 5 } };
      assert.equal((await patch(path, { spec: change })).status, 200);
    });
  });

  it("has a case for every rule", () => {
    const root = tradingEngineCrd().spec.versions[0]?.schema.openAPIV3Schema ?? {};
    const silent = messagesIn(root).filter((message) => ![...heard].some((said) => said.endsWith(message)));
    assert.deepEqual(silent, []);
  });

  it("agrees with parseSpec on any spec", async () => {
    const size = fc.constantFrom("1Gi", "0", "5", "1.5Gi", "9Ti");
    const amounts = fc.dictionary(fc.constantFrom("cpu", "memory"), fc.oneof(fc.integer({ min: -1, max: 4 }), size));
    const spec = fc.record(
      {
        tradingPair: fc.constantFrom("BTC/USDT", "btc/usdt", "A/B/C"),
        image: fc.constantFrom("engine:1", "engine", "a/b:c@sha256:1", "host:1/x:2"),
        replicas: fc.integer({ min: 0, max: 8 }),
        storage: fc.record({ size }),
        resources: fc.record({ requests: amounts, limits: amounts }, { requiredKeys: [] }),
        failoverStrategy: fc.record(
          {
            durability: fc.constantFrom("Strict", "Available", "Sloppy"),
            syncStandbys: fc.integer({ min: -1, max: 7 }),
            detectionMilliseconds: fc.integer({ min: 200, max: 4000 }),
          },
          { requiredKeys: [] },
        ),
        paused: fc.constantFrom(true, false, "no"),
        misspelt: fc.constant(1),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(spec, async (given) => {
        const { status, body } = await tryCreate(given);
        const parsed = parseSpec({ ...validSpec, ...given });
        assert.equal(status === 201, parsed.ok, JSON.stringify({ parsed, body }));
      }),
      { numRuns: 200 },
    );
  });

  describe("unknown fields", () => {
    it("are refused by name under strict validation, which kubectl asks for", async () => {
      const { status, body } = await tryCreate({ replica: 5 });
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), /unknown field .*spec\.replica/);
    });

    it("are dropped otherwise, except those of config", async () => {
      const path = await create("pruned", { replica: 5, config: { depth: { levels: 9 } } });
      const { spec } = z.object({ spec: z.looseObject({}) }).parse((await client.call("GET", path)).body);
      assert.equal("replica" in spec, false);
      assert.deepEqual(spec["config"], { tickSize: "0.01", lotSize: "0.00001", depth: { levels: 9 } });
    });
  });

  describe("status", () => {
    const now = "2026-12-01T05:00:00.000Z";
    const condition = (type: string, status: string) => ({
      type,
      status,
      reason: "Trading",
      message: "",
      lastTransitionTime: now,
    });
    const apply = (path: string, manager: string, status: object): Promise<ApiAnswer> => {
      const object = { ...tradingEngineReference(path.split("/").at(-1) ?? ""), status };
      return client.call("PATCH", `${path}/status?fieldManager=${manager}`, object, applyPatch);
    };
    const read = async (path: string) => {
      const parsed = parseTradingEngine((await client.call("GET", path)).body);
      assert.ok(parsed.ok);
      return parsed.value;
    };

    it("is not written by who writes the spec, and does not raise the generation", async () => {
      const path = await create("apart");
      await patch(path, { status: { phase: "Trading" } });
      assert.equal((await read(path)).status, undefined);
      await patch(`${path}/status`, { status: { phase: "Trading" }, spec: { replicas: 5 } });
      const { status, spec, metadata } = await read(path);
      assert.equal(status?.phase, "Trading");
      assert.equal(spec.replicas, 3);
      assert.equal(metadata.generation, 1);
    });

    it("takes conditions of two field managers side by side", async () => {
      const path = await create("conditions");
      assert.equal((await apply(path, "one", { conditions: [condition("Ready", "True")] })).status, 200);
      assert.equal((await apply(path, "two", { conditions: [condition("Paused", "False")] })).status, 200);
      const { status } = await read(path);
      assert.deepEqual(status?.conditions?.map(({ type }) => type).sort(), ["Paused", "Ready"]);
    });

    it("takes and returns all that the reconciler may say", async () => {
      const path = await create("full");
      const status = {
        observedGeneration: 1,
        phase: "Trading",
        primary: "full-1",
        epoch: 4,
        readyReplicas: 3,
        inSyncReplicas: 2,
        readySummary: "3/3",
        syncSummary: "2/2",
        replicas: [{ name: "full-0", role: "Standby", ready: true, inSync: true, image: "engine:1", node: "node-1" }],
        endpoint: { orders: "full.default.svc:7000", feed: "full-standby.default.svc:7001" },
        image: { current: "engine:1", target: "engine:2", progress: "1/3" },
        lastFailover: {
          time: now,
          from: "full-0",
          to: "full-1",
          reason: "ProcessExited",
          epoch: 4,
          phases: { detectMs: 4, lockMs: 6, fenceMs: 3, promoteMs: 9, routeMs: 7, totalMs: 29 },
        },
        lastUpdate: { time: now, result: "succeeded", durationMs: 1180, changes: { update: 1 }, reason: "Drift" },
        conditions: [condition("Ready", "True")],
      };
      const answer = await apply(path, "all", status);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.deepEqual((await read(path)).status, status);
    });
  });

  it("prints its columns", async () => {
    const path = await create("printed");
    await patch(`${path}/status`, {
      status: { primary: "printed-0", epoch: 2, readySummary: "3/3", syncSummary: "2/2", phase: "Trading" },
    });
    const { columnDefinitions, rows } = table.parse((await client.call("GET", path, undefined, asTable)).body);
    const cells = columnDefinitions.map(({ name }, column) => [name, rows[0]?.cells[column]]);
    assert.deepEqual(cells.slice(0, -2), [
      ["Name", "printed"],
      ["Pair", "BTC/USDT"],
      ["Primary", "printed-0"],
      ["Epoch", 2],
      ["Ready", "3/3"],
      ["In-Sync", "2/2"],
      ["Status", "Trading"],
      ["Image", validSpec.image],
    ]);
    assert.deepEqual(
      cells.slice(-2).map(([name]) => name),
      ["Last Failover", "Age"],
    );
  });
});
