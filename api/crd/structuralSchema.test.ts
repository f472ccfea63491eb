import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { quantity } from "../schema/quantity.ts";
import { withRules } from "../schema/rule.ts";
import { structuralSchema } from "./structuralSchema.ts";

describe("structuralSchema", () => {
  it("keeps types, bounds, defaults and descriptions", () => {
    const schema = z.strictObject({
      name: z.string().min(1).max(9).describe("a name"),
      mode: z.enum(["A", "B"]).default("A"),
      count: z.int().min(1).max(7).optional(),
      list: z.array(z.string().max(3)).max(2).optional(),
    });
    assert.deepEqual(structuralSchema(schema, "spec"), {
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string", minLength: 1, maxLength: 9, description: "a name" },
        mode: { type: "string", enum: ["A", "B"], default: "A" },
        count: { type: "integer", format: "int64", minimum: 1, maximum: 7 },
        list: { type: "array", maxItems: 2, items: { type: "string", maxLength: 3 } },
      },
    });
  });

  it("leaves out the bounds that only JavaScript has", () => {
    assert.deepEqual(structuralSchema(z.int(), "spec"), { type: "integer", format: "int64" });
  });

  it("completes the default of an object, because rules judge it before defaults fill it", () => {
    const schema = z.strictObject({
      outer: z
        .strictObject({ inner: z.strictObject({ n: z.int().default(1) }).prefault({}), free: z.string().optional() })
        .prefault({}),
    });
    assert.deepEqual(structuralSchema(schema, "spec").properties?.["outer"]?.default, { inner: { n: 1 } });
  });

  it("preserves what it does not know of a loose object, and of no other", () => {
    const loose = structuralSchema(z.looseObject({ a: z.string() }), "spec");
    assert.equal(loose["x-kubernetes-preserve-unknown-fields"], true);
    assert.equal(loose.additionalProperties, undefined);
    assert.equal(
      structuralSchema(z.strictObject({ a: z.string() }), "spec")["x-kubernetes-preserve-unknown-fields"],
      undefined,
    );
  });

  it("turns a record into a map, and a quantity into an integer or string", () => {
    const map = structuralSchema(z.record(z.string().max(5), quantity), "spec");
    assert.equal(map.type, "object");
    assert.equal(map.additionalProperties?.["x-kubernetes-int-or-string"], true);
    assert.equal(map.additionalProperties.type, undefined);
  });

  it("carries CEL rules", () => {
    const even = { message: "must be even", cel: "self % 2 == 0", holds: (n: number) => n % 2 === 0 };
    assert.deepEqual(structuralSchema(withRules(z.int(), [even]), "spec")["x-kubernetes-validations"], [
      { rule: "self % 2 == 0", message: "must be even" },
    ]);
  });

  it("takes times by format alone", () => {
    assert.deepEqual(structuralSchema(z.iso.datetime(), "status"), { type: "string", format: "date-time" });
  });

  const refused: readonly (readonly [string, z.ZodType, RegExp])[] = [
    ["a union", z.strictObject({ a: z.union([z.string(), z.boolean()]) }), /^spec\.a: a union is not structural/],
    [
      "a pattern without a message",
      z.strictObject({ a: z.string().regex(/x/) }),
      /^spec\.a: a pattern gives no message/,
    ],
    [
      "an unknown key",
      z.strictObject({ a: z.array(z.string().meta({ colour: "red" })) }),
      /^spec\.a\[\]: colour has no place/,
    ],
  ];
  for (const [name, schema, message] of refused) {
    it(`refuses ${name}, and says where it is`, () => {
      assert.throws(
        () => structuralSchema(schema, "spec"),
        (error: Error) => message.test(error.message),
      );
    });
  }
});
