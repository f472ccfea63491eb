import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createListParser } from "./listParser.ts";

/** Feeds `bytes` in pieces that end at `cuts`. */
const parse = (bytes: Buffer, cuts: readonly number[]) => {
  const items: unknown[] = [];
  const parser = createListParser((item) => void items.push(item));
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    parser.push(bytes.subarray(from, end));
    from = end;
  }
  return { items, envelope: parser.end() };
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
