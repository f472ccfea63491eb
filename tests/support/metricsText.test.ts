import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { samplesOf } from "./metricsText.ts";

const page = `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{verb="GET",resource="pods"} 12
requests_total{verb="POST",path="a\\"b,c"} 3e+02 1700000000000
requests_total 1
requests_total_created 5
other 4
`;

describe("samplesOf", () => {
  it("reads one metric with its labels", () => {
    assert.deepEqual(samplesOf(page, "requests_total"), [
      { name: "requests_total", labels: { verb: "GET", resource: "pods" }, value: 12 },
      { name: "requests_total", labels: { verb: "POST", path: 'a\\"b,c' }, value: 300 },
      { name: "requests_total", labels: {}, value: 1 },
    ]);
  });

  it("finds nothing of a metric that is not there", () => {
    assert.deepEqual(samplesOf(page, "requests"), []);
  });
});
