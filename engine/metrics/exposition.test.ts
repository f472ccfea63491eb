import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Histogram, LabelledCounter, renderFamily } from "./exposition.ts";

describe("Prometheus text", () => {
  it("names, explains and lists a family", () => {
    const text = renderFamily({
      name: "engine_orders_total",
      help: "Orders.",
      type: "counter",
      samples: [{ labels: { type: "limit", result: "filled" }, value: 3 }, { value: 1 }],
    });
    assert.equal(
      text,
      "# HELP engine_orders_total Orders.\n# TYPE engine_orders_total counter\n" +
        'engine_orders_total{type="limit",result="filled"} 3\nengine_orders_total 1\n',
    );
  });

  it("escapes label values", () => {
    const text = renderFamily({
      name: "m",
      help: "h",
      type: "gauge",
      samples: [{ labels: { a: 'x"\\\n' }, value: 0 }],
    });
    assert.ok(text.includes('m{a="x\\"\\\\\\n"} 0'));
  });
});

describe("histogram", () => {
  it("counts cumulatively, each bound included", () => {
    const histogram = new Histogram("latency", "Help.", [1, 10]);
    for (const value of [0.5, 1, 5, 10, 11]) histogram.observe(value);
    assert.deepEqual(histogram.render().split("\n").slice(2), [
      'latency_bucket{le="1"} 2',
      'latency_bucket{le="10"} 4',
      'latency_bucket{le="+Inf"} 5',
      "latency_sum 27.5",
      "latency_count 5",
      "",
    ]);
  });
});

describe("labelled counter", () => {
  it("keeps one count for each value of its label", () => {
    const counter = new LabelledCounter("side");
    for (const side of ["buy", "buy", "sell"]) counter.add(side);
    assert.deepEqual(counter.samples(), [
      { labels: { side: "buy" }, value: 2 },
      { labels: { side: "sell" }, value: 1 },
    ]);
    assert.deepEqual([counter.of("buy"), counter.of("hold")], [2, 0]);
  });
});
