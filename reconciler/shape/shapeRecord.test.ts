import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { differingChildren, parseRecord, type ShapeRecord, sameRecord } from "./shapeRecord.ts";

const record: ShapeRecord = {
  wanted: "w",
  children: { "Service/a": "1", "Service/b": "2", "Service/c": "3" },
  result: {
    time: "2026-01-01T00:00:00.000Z",
    result: "succeeded",
    reason: "Created",
    durationMs: 1200,
    changes: { create: 12 },
    generation: 1,
  },
};

describe("shapeRecord", () => {
  it("is read back as it was written", () => {
    assert.deepEqual(parseRecord(JSON.stringify(record)), record);
  });

  for (const text of [undefined, "", "{", "null", "[]", "{}", '{"wanted":1,"children":{}}', '{"wanted":"w"}']) {
    it(`counts as none when it is ${text ?? "missing"}`, () => assert.equal(parseRecord(text), undefined));
  }

  it("says the same however the run ended that wrote it", () => {
    assert.ok(sameRecord(record, { ...record, result: { ...record.result, durationMs: 1, changes: {} } }));
    assert.ok(!sameRecord(record, { ...record, wanted: "x" }));
    assert.ok(!sameRecord(record, { ...record, children: { "Service/a": "1" } }));
    assert.ok(!sameRecord(record, undefined));
  });

  it("differs by children that are gone or changed, not by others", () => {
    const observed = { "Service/a": "1", "Service/b": "x", "Service/d": "4" };
    assert.deepEqual(differingChildren(record, observed), ["Service/b", "Service/c"]);
  });
});
