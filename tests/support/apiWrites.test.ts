import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { engineResources, sumWrites, writesBetween } from "./apiWrites.ts";
import type { Sample } from "./metricsText.ts";

const sample = (verb: string, resource: string, value: number, subresource = ""): Sample => ({
  name: "apiserver_request_total",
  labels: { verb, resource, subresource, code: "200" },
  value,
});

describe("sumWrites", () => {
  it("adds up writes over everything but what is written", () => {
    const samples = [
      sample("POST", "pods", 2),
      { ...sample("POST", "pods", 1), labels: { verb: "POST", resource: "pods", code: "409" } },
      sample("APPLY", "tradingengines", 4, "status"),
    ];
    assert.deepEqual(sumWrites(samples, engineResources), { "POST pods": 3, "APPLY tradingengines/status": 4 });
  });

  const uncounted = [
    { name: "reads", sample: sample("LIST", "pods", 9) },
    { name: "leases, which elections renew", sample: sample("PUT", "leases", 9) },
    { name: "tokens, which the kubelet renews", sample: sample("POST", "serviceaccounts", 9, "token") },
    { name: "the nodes' own heartbeats", sample: sample("PATCH", "nodes", 9, "status") },
  ];
  for (const { name, sample: one } of uncounted) {
    it(`leaves out ${name}`, () => assert.deepEqual(sumWrites([one], engineResources), {}));
  }
});

describe("writesBetween", () => {
  it("tells only what grew", () => {
    const before = { "POST pods": 3, "PATCH pods/status": 5 };
    const after = { "POST pods": 3, "PATCH pods/status": 7, "POST events": 1 };
    assert.deepEqual(writesBetween(before, after), { "PATCH pods/status": 2, "POST events": 1 });
    assert.deepEqual(writesBetween(after, after), {});
  });
});
