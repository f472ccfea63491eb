import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import fc from "fast-check";
import { sampleEngine } from "../testing/sampleEngine.ts";
import { configFile, configHash, configMap } from "./config.ts";

describe("configuration of an engine", () => {
  it("is a JSON file of tradingPair and everything under spec.config", () => {
    const engine = sampleEngine({ config: { tickSize: "0.5", lotSize: "0.001", risk: { maxOrder: "10" } } });
    assert.deepEqual(JSON.parse(configFile(engine)), {
      tradingPair: "BTC/USDT",
      tickSize: "0.5",
      lotSize: "0.001",
      risk: { maxOrder: "10" },
    });
  });

  it("names the spec's pair, whatever the free part of the configuration says", () => {
    const engine = sampleEngine({ config: { tradingPair: "ETH/USDT" } });
    assert.equal((JSON.parse(configFile(engine)) as { tradingPair: string }).tradingPair, "BTC/USDT");
  });

  it("is kept in the ConfigMap that the pods mount", () => {
    const engine = sampleEngine();
    const { metadata, data } = configMap(engine);
    assert.equal((metadata as { name: string }).name, "btc-usdt-config");
    assert.deepEqual(data, { "config.json": configFile(engine) });
  });

  it("has as hash what a replica computes of the file that it read", () => {
    const engine = sampleEngine();
    assert.equal(configHash(engine), createHash("sha256").update(configFile(engine)).digest("hex"));
  });

  it("has another hash as soon as one value differs", () => {
    assert.notEqual(
      configHash(sampleEngine({ config: { tickSize: "0.01" } })),
      configHash(sampleEngine({ config: { tickSize: "0.1" } })),
    );
  });

  it("is the same text in whatever order the keys were written", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, inner]) => [key, reversed(inner)]),
      );
    };
    const key = fc.stringMatching(/^[a-z]{1,8}$/).filter((name) => !["tickSize", "lotSize"].includes(name));
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true }), (config) => {
        const other = reversed(config) as Record<string, unknown>;
        assert.equal(configFile(sampleEngine({ config: other })), configFile(sampleEngine({ config })));
      }),
    );
  });
});
