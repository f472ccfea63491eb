import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tradingEngineCrd } from "./index.ts";
import type { StructuralSchema } from "./structuralSchema.ts";

const [version] = tradingEngineCrd().spec.versions;
const root = version?.schema.openAPIV3Schema ?? {};

const eachSchema = (path: string, schema: StructuralSchema): readonly { path: string; schema: StructuralSchema }[] => [
  { path, schema },
  ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => eachSchema(`${path}.${name}`, inner)),
  ...(schema.items === undefined ? [] : eachSchema(`${path}[]`, schema.items)),
  ...(schema.additionalProperties === undefined ? [] : eachSchema(`${path}[*]`, schema.additionalProperties)),
];

const schemas = [
  ...eachSchema("spec", root.properties?.["spec"] ?? {}),
  ...eachSchema("status", root.properties?.["status"] ?? {}),
];

/** The schema that a printer column's path leads to. */
const schemaAt = (jsonPath: string): StructuralSchema | undefined =>
  jsonPath
    .slice(1)
    .split(".")
    .reduce<StructuralSchema | undefined>((schema, name) => schema?.properties?.[name], root);

describe("TradingEngine CRD", () => {
  it("names the kind so that the API server accepts it: plural.group", () => {
    const { metadata, spec } = tradingEngineCrd();
    assert.equal(metadata.name, `${spec.names.plural}.${spec.group}`);
    assert.deepEqual(spec.names.shortNames, ["te"]);
  });

  it("keeps status apart from spec", () => assert.deepEqual(version?.subresources, { status: {} }));

  it("has the fields of the design", () => {
    const fields = Object.keys(root.properties?.["spec"]?.properties ?? {});
    for (const field of [
      "tradingPair",
      "image",
      "replicas",
      "storageClassName",
      "resources",
      "failoverStrategy",
      "backupPolicy",
    ]) {
      assert.ok(fields.includes(field), field);
    }
  });

  it("describes every field", () => {
    for (const { path, schema } of schemas) {
      // Entries of lists and maps are described by the list or map.
      if (!path.endsWith("]")) assert.ok((schema.description ?? "").length > 0, path);
    }
  });

  it("bounds every text, list and map, or rules would exceed the cost that the API server allows", () => {
    for (const { path, schema } of schemas) {
      const isFreeText = schema.type === "string" && schema.enum === undefined && schema.format === undefined;
      if (isFreeText) assert.ok(schema.maxLength !== undefined, path);
      if (schema.type === "array") assert.ok(schema.maxItems !== undefined, path);
      if (schema.additionalProperties !== undefined) assert.ok(schema.maxProperties !== undefined, path);
    }
  });

  it("merges conditions by type and replicas by name, so that writers do not undo each other", () => {
    const status = root.properties?.["status"]?.properties;
    assert.deepEqual(status?.["conditions"]?.["x-kubernetes-list-map-keys"], ["type"]);
    assert.deepEqual(status["replicas"]?.["x-kubernetes-list-map-keys"], ["name"]);
  });

  it("prints the columns that a person on call needs, each from a field that exists", () => {
    const columns = version?.additionalPrinterColumns ?? [];
    assert.deepEqual(
      columns.map(({ name }) => name.toUpperCase()),
      ["PAIR", "PRIMARY", "EPOCH", "READY", "IN-SYNC", "STATUS", "IMAGE", "LAST FAILOVER", "AGE"],
    );
    for (const { jsonPath } of columns) {
      if (!jsonPath.startsWith(".metadata.")) assert.ok(schemaAt(jsonPath) !== undefined, jsonPath);
    }
  });

  it("is the same at every call, and plain data", () => {
    assert.deepEqual(JSON.parse(JSON.stringify(tradingEngineCrd())), tradingEngineCrd());
  });
});
