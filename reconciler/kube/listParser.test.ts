import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createListParser, type ListParser, type ListParserOptions } from "./listParser.ts";
import { createListScanner } from "./listScanner.ts";

/** Feeds `bytes` in pieces that end at `cuts`. */
const feed = (create: (onItem: (item: unknown) => void) => ListParser, bytes: Buffer, cuts: readonly number[]) => {
  const items: unknown[] = [];
  const parser = create((item) => void items.push(item));
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    parser.push(bytes.subarray(from, end));
    from = end;
  }
  const envelope = parser.end();
  return { items, envelope };
};

const parse = (bytes: Buffer, cuts: readonly number[], options: ListParserOptions = {}) =>
  feed((onItem) => createListParser(onItem, options), bytes, cuts);

/** Those that are easily cut are; others may be left to be dropped later, so both are left out of the comparison. */
const withoutManagedFields = (item: unknown): unknown => {
  const { metadata, ...rest } = item as { readonly metadata?: unknown };
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return item;
  return { ...rest, metadata: { ...metadata, managedFields: undefined } };
};

/** From batches that hold less than an item to ones that hold all. */
const batchBytes = fc.integer({ min: 1, max: 600 });
const cuts = fc.array(fc.nat(), { maxLength: 6 });

/** What is easily taken for the structure of a list. */
const trap = fc.constantFrom('"items":[{', '},{"metadata":', '},{"a":', '"}],', "}]", "é\\");

describe("list parser", () => {
  const field = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), trap);
  const anyItems = fc.array(fc.dictionary(fc.string(), field), { maxLength: 5 });
  /** As an API server sends them: all begin with the same key. So do objects inside of them. */
  const inner = fc.record({ a: field, b: fc.array(fc.record({ a: field }), { maxLength: 3 }) });
  const likeItems = fc.array(fc.record({ a: field, c: fc.array(inner, { maxLength: 3 }) }), { maxLength: 8 });

  for (const [name, create] of [
    ["parser", undefined],
    ["scanner", createListScanner],
  ] as const) {
    it(`finds the same as JSON.parse, wherever the bytes are cut and whatever is in the items: ${name}`, () => {
      fc.assert(
        fc.property(
          fc.oneof(anyItems, likeItems),
          fc.dictionary(fc.string(), field, { maxKeys: 3 }),
          fc.boolean(),
          fc.constantFrom(0, 0, 0, 2),
          cuts,
          batchBytes,
          (items, rest, metadataFirst, indent, cuts, batchBytes) => {
            const metadata = { metadata: { ...rest, resourceVersion: "7" } };
            const list = metadataFirst ? { ...metadata, items } : { items, ...metadata };
            const bytes = Buffer.from(JSON.stringify(list, null, indent));
            const found = feed(create ?? ((onItem) => createListParser(onItem, { batchBytes })), bytes, cuts);
            const expected = JSON.parse(JSON.stringify(list)) as typeof list;
            assert.deepEqual(found, { items: expected.items, envelope: { ...expected, items: [] } });
          },
        ),
        { numRuns: 300 },
      );
    });
  }

  it("cuts nothing but metadata.managedFields, whatever looks like it", () => {
    const name = fc.constantFrom("metadata", "managedFields", "a", 'x,"managedFields":[', 'x"metadata', "é\\");
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 6 }, fc.jsonValue({ maxDepth: 1 }), name, trap, tie("array"), tie("object")),
      array: fc.array(tie("value"), { maxLength: 3 }),
      object: fc.dictionary(name, tie("value"), { maxKeys: 4 }),
    }));
    /** As the API server has it. Elsewhere a number may be of that name, but not here. */
    const managedFields = fc.array(fc.dictionary(fc.oneof(name, trap), fc.oneof(value, trap)), { maxLength: 2 });
    const metadata = fc
      .tuple(fc.dictionary(name, value, { maxKeys: 4 }), fc.option(managedFields, { nil: undefined }))
      .map(([metadata, managedFields]) => ({ ...metadata, managedFields }));
    const item = fc.tuple(fc.dictionary(name, value, { maxKeys: 3 }), metadata, fc.integer({ min: 0, max: 4 }));
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), fc.nat(1), cuts, batchBytes, (all, indent, cuts, batchBytes) => {
        const items = all.map(([rest, metadata, last]) => (last > 0 ? { metadata, ...rest } : { ...rest, metadata }));
        const list = { items, metadata: { managedFields: [1] } };
        const bytes = Buffer.from(JSON.stringify(list, null, indent));
        const found = parse(bytes, cuts, { cutManagedFields: true, batchBytes });
        const expected = JSON.parse(JSON.stringify(list)) as typeof list;
        assert.deepEqual(found.envelope, { ...expected, items: [] });
        assert.deepEqual(found.items.map(withoutManagedFields), expected.items.map(withoutManagedFields));
      }),
      { numRuns: 1000 },
    );
  });

  describe("on a list as the API server sends it", () => {
    const managedFields = [{ manager: "kubelet", fieldsV1: { 'k:{"type":"Ready"}': { ".": {} } } }];
    const claim = (name: string) => ({ metadata: { name, managedFields }, spec: {} });
    const pod = (i: number) => ({ metadata: { name: `é${i}`, managedFields }, status: { podIPs: [{ ip: "::1" }] } });
    const pods = Array.from({ length: 200 }, (_, i) => pod(i));
    const kept = pods.map(({ metadata: { name }, status }) => ({ metadata: { name }, status }));
    const bytesOf = (items: readonly unknown[]) => Buffer.from(JSON.stringify({ metadata: {}, items }));

    it("cuts every managedFields, and keeps them unless asked", () => {
      assert.deepEqual(parse(bytesOf(pods), [100, 5_000], { batchBytes: 1_000 }).items, pods);
      const cut = parse(bytesOf(pods), [100, 5_000], { batchBytes: 1_000, cutManagedFields: true });
      assert.deepEqual(cut.items, kept);
    });

    it("leaves managedFields that hold an array themselves, and cuts all others", () => {
      const odd = { metadata: { name: "odd", managedFields: [{ fieldsV1: { "f:a": [1] } }] }, status: {} };
      const { items } = parse(bytesOf([...pods, odd, ...pods]), [], { batchBytes: 1_000, cutManagedFields: true });
      assert.deepEqual(items, [...kept, odd, ...kept]);
    });

    it("hands items over before the list is complete", () => {
      const bytes = bytesOf(pods);
      let items = 0;
      const parser = createListParser(() => (items += 1), { batchBytes: 1_000 });
      parser.push(bytes.subarray(0, bytes.length / 2));
      assert.ok(items > 80 && items < 100, `${items} items`);
    });

    it("leaves managedFields of other objects inside of the items alone", () => {
      const sets = pods.map((pod) => ({ ...pod, spec: { volumeClaimTemplates: [claim("a"), claim("b")] } }));
      const { items } = parse(bytesOf(sets), [], { batchBytes: 1_000, cutManagedFields: true });
      assert.deepEqual(items.map(withoutManagedFields), sets.map(withoutManagedFields));
    });

    it("reads an item larger than a batch", () => {
      const large = { metadata: { name: "large" }, data: "x".repeat(5_000) };
      const items = [...kept, large, ...kept];
      assert.deepEqual(parse(bytesOf(items), [], { batchBytes: 1_000 }).items, items);
    });

    it("refuses one that was cut short, wherever, and hands over what was complete", () => {
      const bytes = bytesOf(kept);
      for (const end of [1, 15, 24, 900, 1_010, bytes.length - 3, bytes.length - 2, bytes.length - 1]) {
        const items: unknown[] = [];
        const parser = createListParser((item) => void items.push(item), { batchBytes: 1_000 });
        parser.push(bytes.subarray(0, end));
        assert.throws(() => parser.end(), SyntaxError, `cut at ${end}`);
        assert.deepEqual(items, kept.slice(0, items.length));
      }
    });
  });

  it("leaves arrays of other fields and of deeper levels alone", () => {
    const list = { metadata: { items: [1] }, others: [[{ a: 1 }]], items: [{ items: [{ b: 2 }] }] };
    assert.deepEqual(parse(Buffer.from(JSON.stringify(list)), []), {
      items: [{ items: [{ b: 2 }] }],
      envelope: { ...list, items: [] },
    });
  });

  it("does not take the items of something deeper for those of the list", () => {
    const inner = Array.from({ length: 50 }, (_, a) => ({ a }));
    const list = { metadata: { items: inner }, items: [{ b: 3 }] };
    const { items, envelope } = parse(Buffer.from(JSON.stringify(list)), [], { batchBytes: 100 });
    assert.deepEqual(items, [{ b: 3 }]);
    assert.deepEqual(envelope, { ...list, items: [] });
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
