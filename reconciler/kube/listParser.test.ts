import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createListParser, type ListParserOptions } from "./listParser.ts";

/** Feeds `bytes` in pieces that end at `cuts`. */
const parse = (bytes: Buffer, cuts: readonly number[], options: ListParserOptions = {}) => {
  const items: unknown[] = [];
  const parser = createListParser((item) => void items.push(item), options);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    parser.push(bytes.subarray(from, end));
    from = end;
  }
  return { items, envelope: parser.end() };
};

/** The cut may leave some to be dropped later, so these are left out of the comparison. */
const withoutManagedFields = (item: unknown): unknown => {
  const { metadata, ...rest } = item as { readonly metadata?: unknown };
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return item;
  return { ...rest, metadata: { ...metadata, managedFields: undefined } };
};

describe("list parser", () => {
  it("finds the same as JSON.parse, wherever the bytes are cut and whatever is in the items", () => {
    const field = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.constant('"items":[{'));
    const item = fc.dictionary(fc.string(), field);
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 5 }),
        fc.dictionary(fc.string(), field, { maxKeys: 3 }),
        fc.boolean(),
        fc.nat(4),
        fc.array(fc.nat(), { maxLength: 6 }),
        (items, rest, metadataFirst, indent, cuts) => {
          const metadata = { metadata: { ...rest, resourceVersion: "7" } };
          const list = metadataFirst ? { ...metadata, items } : { items, ...metadata };
          const found = parse(Buffer.from(JSON.stringify(list, null, indent)), cuts);
          const expected = JSON.parse(JSON.stringify(list)) as typeof list;
          assert.deepEqual(found, { items: expected.items, envelope: { ...expected, items: [] } });
        },
      ),
    );
  });

  it("cuts nothing but metadata.managedFields, whatever looks like it", () => {
    const name = fc.constantFrom("metadata", "managedFields", "a", 'x,"managedFields":[', 'x"metadata', "é\\");
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 6 }, fc.jsonValue({ maxDepth: 1 }), name, tie("array"), tie("object")),
      array: fc.array(tie("value"), { maxLength: 3 }),
      object: fc.dictionary(name, tie("value"), { maxKeys: 4 }),
    }));
    const metadata = fc.dictionary(name, value, { maxKeys: 4 });
    const item = fc.tuple(fc.dictionary(name, value, { maxKeys: 3 }), metadata, fc.boolean());
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 4 }),
        fc.nat(1),
        fc.array(fc.nat(), { maxLength: 6 }),
        (all, indent, cuts) => {
          const items = all.map(([rest, metadata, first]) => (first ? { metadata, ...rest } : { ...rest, metadata }));
          const list = { items, metadata: { managedFields: [1] } };
          const found = parse(Buffer.from(JSON.stringify(list, null, indent)), cuts, { cutManagedFields: true });
          const expected = JSON.parse(JSON.stringify(list)) as typeof list;
          assert.deepEqual(found.envelope, { ...expected, items: [] });
          assert.deepEqual(found.items.map(withoutManagedFields), expected.items.map(withoutManagedFields));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("cuts managedFields as the API server spells them, and keeps them unless asked", () => {
    const managedFields = [{ manager: '}]"', fieldsV1: { 'k:{"type":"Ready"}': { ".": {} } } }];
    const metadata = { name: "a", managedFields };
    const bytes = Buffer.from(JSON.stringify({ items: [{ metadata, spec: { metadata } }, { metadata }] }));
    assert.deepEqual(parse(bytes, []).items, [{ metadata, spec: { metadata } }, { metadata }]);
    assert.deepEqual(parse(bytes, [], { cutManagedFields: true }).items, [
      { metadata: { name: "a" }, spec: { metadata } },
      { metadata: { name: "a" } },
    ]);
  });

  it("leaves arrays of other fields and of deeper levels alone", () => {
    const list = { metadata: { items: [1] }, others: [[{ a: 1 }]], items: [{ items: [{ b: 2 }] }] };
    assert.deepEqual(parse(Buffer.from(JSON.stringify(list)), []), {
      items: [{ items: [{ b: 2 }] }],
      envelope: { ...list, items: [] },
    });
  });

  it("takes a list without items", () => {
    assert.deepEqual(parse(Buffer.from('{"items":null}'), []), { items: [], envelope: { items: null } });
  });

  for (const text of ["", '{"items":[{"a":1}', '{"items":[{"a":1}]', '{"items":[], "a": "', "<html></html>"]) {
    it(`refuses what was cut short or is none: ${text}`, () => {
      assert.throws(() => parse(Buffer.from(text), []), SyntaxError);
    });
  }

  it("refuses an item that is not JSON", () => {
    assert.throws(() => parse(Buffer.from('{"items":[{a}]}'), []), SyntaxError);
  });
});
