import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PairConfig, readPairConfig } from "./pairConfig.ts";
import { runMocked, valueOf } from "./testing/mocks.ts";

const engine = { tradingPair: "BTC/USDT", image: "registry.example.com/engine:1" };

const read = async (
  config: Readonly<Record<string, string>>,
  { stack = "btc-usdt", secretKeys = [] }: { readonly stack?: string; readonly secretKeys?: readonly string[] } = {},
): Promise<PairConfig> => {
  const found: PairConfig[] = [];
  const program = () => {
    found.push(readPairConfig());
    return {};
  };
  await runMocked(program, { project: "trading", stack, config, secretKeys });
  const [pair] = found;
  assert.ok(pair !== undefined);
  return pair;
};

const written = (changes: Readonly<Record<string, unknown>> = {}) => ({
  "trading:engine": JSON.stringify({ ...engine, ...changes }),
});

describe("configuration of a pair", () => {
  it("needs no more than the pair and the image", async () => {
    const pair = await read(written());
    assert.deepEqual(
      [pair.engine, pair.namespace, pair.mode, pair.operatorNamespace],
      ["btc-usdt", "trading", "managed", "enginekeeper-system"],
    );
    assert.equal(pair.spec.replicas, 3);
  });

  it("keeps the spec as written, so that the API server fills in its own defaults", async () => {
    assert.deepEqual((await read(written())).written, engine);
  });

  it("takes the namespaces from the stack", async () => {
    const pair = await read({ ...written(), "trading:namespace": "fx", "trading:operatorNamespace": "ops" });
    assert.deepEqual([pair.namespace, pair.operatorNamespace], ["fx", "ops"]);
  });

  it("in mode direct has the token, and retains what leaves the program unless told otherwise", async () => {
    const direct = { ...written(), "trading:mode": "direct", "trading:controlToken": "s3cret" };
    const pair = await read(direct, { secretKeys: ["trading:controlToken"] });
    assert.ok(pair.mode === "direct");
    assert.equal(await valueOf(pair.controlToken), "s3cret");
    assert.equal(pair.retain, true);
    const other = await read({ ...direct, "trading:retain": "false" });
    assert.ok(other.mode === "direct" && !other.retain);
  });
});

const refusals: readonly (readonly [
  what: string,
  config: Readonly<Record<string, string>>,
  stack: string,
  messages: readonly RegExp[],
])[] = [
  ["no engine", {}, "btc-usdt", [/Pulumi\.btc-usdt\.yaml/, /trading:engine/, /tradingPair and image/]],
  ["an engine that is no object", { "trading:engine": "[1]" }, "btc-usdt", [/trading:engine/]],
  [
    "an invalid spec, with every problem and the file",
    written({ replicas: 9, tradingPair: "btc", storgeClassName: "x" }),
    "btc-usdt",
    [/Pulumi\.btc-usdt\.yaml/, /replicas must be from 1 to 7/, /BASE\/QUOTE/, /storgeClassName/],
  ],
  ["an unknown mode", { ...written(), "trading:mode": "auto" }, "btc-usdt", [/is auto/, /managed or to direct/]],
  [
    "mode direct without a token, with the command",
    { ...written(), "trading:mode": "direct" },
    "btc-usdt",
    [/pulumi config set --secret controlToken/],
  ],
  ["a stack whose name no Service can have", written(), "BTC_USDT", [/BTC_USDT cannot be one/, /such as btc-usdt/]],
  ["a stack with too long a name", written(), "b".repeat(41), [/at most 40 characters/]],
];

describe("a wrong configuration of a pair", () => {
  for (const [what, config, stack, messages] of refusals) {
    it(`is refused: ${what}`, async () => {
      await assert.rejects(read(config, { stack }), (error: Error) => {
        for (const message of messages) assert.match(error.message, message);
        return true;
      });
    });
  }
});
