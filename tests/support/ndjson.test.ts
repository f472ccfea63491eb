import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseNdjson } from "./ndjson.ts";

describe("parseNdjson", () => {
  it("reads what was written, with or without a newline at the end", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.string(), fc.boolean())), fc.boolean(), (values, terminated) => {
        const text = values.map((value) => JSON.stringify(value)).join("\n") + (terminated ? "\n" : "");
        assert.deepEqual([...parseNdjson(text)], values);
      }),
    );
  });

  it("skips empty lines", () => {
    assert.deepEqual([...parseNdjson("\n1\n\n2\n")], [1, 2]);
  });

  it("names the line that was cut off", () => {
    assert.throws(() => [...parseNdjson('{"seq":1}\n{"se')], /line 2 is not JSON: {"se/);
  });
});
