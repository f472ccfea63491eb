import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "./config.ts";

describe("readConfig", () => {
  it("reads the replicas, their control APIs and the load", () => {
    const config = readConfig({
      ORDERS_REPLICAS: "e-0.svc:7000, e-1.svc:7000",
      ORDERS_CONTROL: "e-0=e-0.svc:7070,e-1=e-1.svc:7070",
      ORDERS_TOKEN_FILE: "/token",
      ORDERS_RUN: "demo",
      ORDERS_SEED: "42",
      ORDERS_WORKERS: "4",
      ORDERS_RATE: "0",
      ORDERS_TICK_SIZE: "0.5",
      ORDERS_PORT: "0",
    });
    assert.deepEqual(config.client.destination, { kind: "replicas", targets: ["e-0.svc:7000", "e-1.svc:7000"] });
    assert.deepEqual(config.controlEndpoints, [
      { instance: "e-0", address: "e-0.svc:7070" },
      { instance: "e-1", address: "e-1.svc:7070" },
    ]);
    const { run, seed, workers, ratePerSecond, mix } = config.client;
    assert.deepEqual([run, seed, workers, ratePerSecond, mix.tickSize], ["demo", 42, 4, 0, "0.5"]);
    assert.deepEqual([config.tokenFile, config.port], ["/token", 0]);
  });

  it("needs an address and nothing else", () => {
    const config = readConfig({ ORDERS_SERVICE: "engine:7000" });
    assert.deepEqual(config.client.destination, { kind: "service", target: "engine:7000" });
    assert.equal(config.port, 7090);
    assert.equal(config.tokenFile, null);
  });

  it("gives every run client ids of its own", () => {
    const run = () => readConfig({ ORDERS_SERVICE: "engine:7000" }).client.run;
    assert.notEqual(run(), run());
  });

  const mistakes = [
    { env: {}, says: /set either ORDERS_REPLICAS=host:port,\.\.\. or ORDERS_SERVICE/ },
    { env: { ORDERS_REPLICAS: "a:1", ORDERS_SERVICE: "b:1" }, says: /set either/ },
    { env: { ORDERS_REPLICAS: "a" }, says: /"a" is not host:port/ },
    { env: { ORDERS_SERVICE: "http://a:1" }, says: /is not host:port/ },
    { env: { ORDERS_SERVICE: "a:1", ORDERS_CONTROL: "e-0" }, says: /"e-0" is not instance=host:port/ },
    {
      env: { ORDERS_SERVICE: "a:1", ORDERS_WORKERS: "0" },
      says: /ORDERS_WORKERS="0" is not a whole number of at least 1/,
    },
    { env: { ORDERS_SERVICE: "a:1", ORDERS_RATE: "fast" }, says: /ORDERS_RATE="fast" is not a number of at least 0/ },
    { env: { ORDERS_SERVICE: "a:1", ORDERS_SEED: "1.5" }, says: /ORDERS_SEED="1.5" is not a whole number/ },
  ];
  for (const { env, says } of mistakes) {
    it(`refuses ${JSON.stringify(env)}`, () => assert.throws(() => readConfig(env), says));
  }
});
