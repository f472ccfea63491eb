import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { canonicalJson, contentHash } from "./contentHash.ts";

const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, shuffled(inner)]),
  );
};

describe("contentHash", () => {
  it("does not depend on the order of keys", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(contentHash(shuffled(value)), contentHash(value))));
  });

  it("depends on everything else", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        assert.equal(contentHash(a) === contentHash(b), canonicalJson(a) === canonicalJson(b));
      }),
    );
    assert.notEqual(contentHash([1, 2]), contentHash([2, 1]));
  });

  it("leaves out what is undefined, as JSON does", () => {
    assert.equal(canonicalJson({ b: undefined, a: 1 }), '{"a":1}');
    assert.equal(canonicalJson(undefined), "null");
  });

  it("is short and fit for an annotation", () => assert.match(contentHash({}), /^[A-Za-z0-9_-]{16}$/));
});
