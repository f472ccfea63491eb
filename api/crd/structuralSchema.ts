/**
 * zod schema -> structural schema, the subset of OpenAPI that a CustomResourceDefinition takes.
 */
import { z } from "zod";
import type { CelRule } from "../schema/rule.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The keys of a structural schema that our schemas use. */
export interface StructuralSchema {
  readonly description?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly items?: StructuralSchema;
  readonly additionalProperties?: StructuralSchema;
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-list-type"?: "map" | "set" | "atomic";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly CelRule[];
}

/** Keys whose values go into the structural schema as they are. */
const plainKeys: ReadonlySet<string> = new Set([
  "description",
  "type",
  "enum",
  "minLength",
  "maxLength",
  "maxItems",
  "maxProperties",
  "required",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
]);

type JsonObject = Readonly<Record<string, Json>>;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const objectAt = (value: Json | undefined, path: string): JsonObject => {
  if (isObject(value)) return value;
  throw new Error(`${path}: a schema was expected, found ${JSON.stringify(value)}`);
};

/** zod states the range of exact integers in JavaScript as a bound of every integer; it is no rule of ours. */
const isBoundOfJavaScript = (value: Json | undefined): boolean =>
  typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER;

const isEmptySchema = (value: Json | undefined): boolean => isObject(value) && Object.keys(value).length === 0;

/**
 * `value` completed by the defaults of what it leaves out. The API server judges a default
 * by the rules before it fills in the defaults inside it, so every default must be whole.
 */
const completed = (value: Json, schema: JsonObject): Json => {
  if (!isObject(value)) return value;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const entries = Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property)) return [];
    const given = value[name] ?? property["default"];
    return given === undefined ? [] : [[name, completed(given, property)] as const];
  });
  return { ...value, ...Object.fromEntries(entries) };
};

const convertEntry = (key: string, value: Json, schema: JsonObject, path: string): Json | undefined => {
  switch (key) {
    case "properties":
      return Object.fromEntries(
        Object.entries(objectAt(value, path)).map(([name, property]) => [name, convert(property, `${path}.${name}`)]),
      );
    case "items":
      return convert(value, `${path}[]`);
    case "additionalProperties":
      // Beside properties it is not structural: `false` is what pruning does anyway, and `{}` is handled by convert.
      return value === false || schema["properties"] !== undefined ? undefined : convert(value, `${path}[*]`);
    case "minimum":
    case "maximum":
      return isBoundOfJavaScript(value) ? undefined : value;
    case "anyOf":
      if (schema["x-kubernetes-int-or-string"] === true) return undefined;
      throw new Error(`${path}: a union is not structural: use an enum that discriminates and a rule for each case`);
    case "default":
      return completed(value, schema);
    case "format":
      return value;
    case "pattern":
      if (schema["format"] === "date-time") return undefined;
      throw new Error(`${path}: a pattern gives no message for people: use a rule (matching) instead`);
    default:
      if (plainKeys.has(key)) return value;
      throw new Error(`${path}: ${key} has no place in a structural schema`);
  }
};

const convert = (value: Json | undefined, path: string): JsonObject => {
  const schema = objectAt(value, path);
  const entries = Object.entries(schema).flatMap(([key, inner]) => {
    const converted = convertEntry(key, inner, schema, path);
    return converted === undefined ? [] : [[key, converted] as const];
  });
  const isLoose = schema["properties"] !== undefined && isEmptySchema(schema["additionalProperties"]);
  return {
    ...Object.fromEntries(entries),
    ...(schema["type"] === "integer" ? { format: "int64" } : {}),
    ...(isLoose ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
  };
};

/**
 * The structural schema of what people write (defaults are stated, not applied).
 * @param name stands for the value in error messages
 * @throws when the schema uses what a CustomResourceDefinition cannot say
 */
export const structuralSchema = (schema: z.ZodType, name: string): StructuralSchema =>
  convert(z.toJSONSchema(schema, { io: "input", target: "openapi-3.0" }) as Json, name);
