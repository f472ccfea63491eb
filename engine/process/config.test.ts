import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { type Environment, parseAddress, readConfig } from "./config.ts";
import { FatalError } from "./exit.ts";

const prepare = async (test: TestContext, config: string, token = "secret\n"): Promise<Environment> => {
  const dir = await temporaryDirectory(test);
  await writeFile(join(dir, "config.json"), config);
  await writeFile(join(dir, "token"), token);
  return {
    TE_CLUSTER_UID: "trading/btc-usdt",
    TE_INSTANCE_ID: "btc-usdt-0",
    TE_CONFIG_FILE: join(dir, "config.json"),
    TE_TOKEN_FILE: join(dir, "token"),
  };
};

const rules = JSON.stringify({ tradingPair: "BTC/USDT", tickSize: "0.01", lotSize: "0.00001", more: "is kept out" });

const isConfigError =
  (message: RegExp) =>
  (error: unknown): boolean =>
    error instanceof FatalError && error.exitCode === 64 && message.test(error.message);

describe("the configuration", () => {
  it("has a default for everything but who this is", async (test) => {
    const config = readConfig(await prepare(test, rules));
    assert.equal(config.dataDir, "/var/lib/engine");
    assert.deepEqual(config.controlAddress, { host: "0.0.0.0", port: 7070 });
    assert.equal(config.token, "secret");
    assert.equal(config.rules.tickSize, "0.01");
    assert.match(config.configHash, /^[0-9a-f]{64}$/);
    assert.equal(config.limits.detectionMs, 1_000);
  });

  it("takes what the environment says", async (test) => {
    const env = await prepare(test, rules);
    const config = readConfig({ ...env, TE_DETECTION_MS: "250", TE_ORDER_ADDR: "127.0.0.1:9000" });
    assert.equal(config.limits.detectionMs, 250);
    assert.deepEqual(config.orderAddress, { host: "127.0.0.1", port: 9000 });
  });

  const refused: readonly [string, Environment, RegExp][] = [
    ["no cluster", { TE_CLUSTER_UID: undefined }, /TE_CLUSTER_UID must be set/],
    ["an empty name", { TE_INSTANCE_ID: "" }, /TE_INSTANCE_ID must be set/],
    ["an address without a port", { TE_CONTROL_ADDR: "0.0.0.0" }, /TE_CONTROL_ADDR must be host:port, not "0.0.0.0"/],
    ["a time that is none", { TE_DETECTION_MS: "soon" }, /TE_DETECTION_MS must be a positive integer, not "soon"/],
    ["a time of nothing", { TE_DETECTION_MS: "0" }, /TE_DETECTION_MS must be a positive integer/],
    ["a missing file", { TE_CONFIG_FILE: "/nowhere/config.json" }, /TE_CONFIG_FILE names a file that cannot be read/],
    ["a missing token", { TE_TOKEN_FILE: "/nowhere/token" }, /TE_TOKEN_FILE names a file that cannot be read/],
  ];
  for (const [what, change, message] of refused) {
    it(`is refused with ${what}`, async (test) => {
      const env = await prepare(test, rules);
      assert.throws(() => readConfig({ ...env, ...change }), isConfigError(message));
    });
  }

  for (const [content, message] of [
    ["{", /TE_CONFIG_FILE does not hold JSON/],
    ["[]", /must have the string "tradingPair"/],
    ['{"tradingPair":"A/B","tickSize":0.01}', /must have the string "tickSize"/],
    ['{"tradingPair":"A/B","tickSize":"0","lotSize":"1"}', /tickSize must be a positive decimal/],
  ] as const) {
    it(`is refused with the file ${content}`, async (test) => {
      const env = await prepare(test, content);
      assert.throws(() => readConfig(env), isConfigError(message));
    });
  }

  it("is refused with an empty token: it would let everybody in", async (test) => {
    const env = await prepare(test, rules, "\n");
    assert.throws(() => readConfig(env), isConfigError(/put the control token into it/));
  });
});

describe("an address", () => {
  for (const [text, expected] of [
    ["127.0.0.1:7000", { host: "127.0.0.1", port: 7000 }],
    ["te-0.te-replicas.trading.svc:7080", { host: "te-0.te-replicas.trading.svc", port: 7080 }],
    ["[::1]:7000", { host: "::1", port: 7000 }],
    ["::1:7000", null],
    ["host", null],
    ["host:70000", null],
    [":7000", null],
  ] as const) {
    it(`${text} is ${JSON.stringify(expected)}`, () => assert.deepEqual(parseAddress(text), expected));
  }
});
