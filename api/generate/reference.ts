/**
 * The reference page of a kind, made from its CustomResourceDefinition: what the page says
 * is what the API server does.
 */
import type { PrinterColumn } from "../crd/printerColumns.ts";
import type { Json, StructuralSchema } from "../crd/structuralSchema.ts";
import type { CustomResourceDefinition } from "../crd/tradingEngineCrd.ts";
import { conditionReasons, conditionTypes } from "../tradingEngine/conditions.ts";

/** One line of a table of fields. */
interface FieldRow {
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly default: Json | undefined;
  readonly meaning: string;
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

const code = (text: string): string => `\`${text}\``;

/** A value as a person writes it in YAML. */
const plain = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

const bounds = (schema: StructuralSchema): string => {
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) return ` ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` from ${minimum}`;
  return maximum === undefined ? "" : ` up to ${maximum}`;
};

const typeName = (schema: StructuralSchema): string => {
  if (schema["x-kubernetes-int-or-string"] === true) return "integer or string";
  if (schema.enum !== undefined) return schema.enum.map((value) => code(plain(value))).join(", ");
  if (schema.type === "array") return `list of ${schema.items === undefined ? "anything" : typeName(schema.items)}s`;
  if (schema.additionalProperties !== undefined) return `map to ${typeName(schema.additionalProperties)}`;
  return `${schema.format === "date-time" ? "time" : (schema.type ?? "anything")}${bounds(schema)}`;
};

/** The rules under `schema` with the field that each is about, as the API server would name it. */
const rulesOf = (path: string, schema: StructuralSchema): readonly { path: string; message: string }[] => [
  ...(schema["x-kubernetes-validations"] ?? []).map((rule) => ({
    path: `${path}${rule.fieldPath ?? ""}`.replace(/^\./, ""),
    message: rule.message,
  })),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => rulesOf(`${path}.${name}`, property)),
  ...(schema.items === undefined ? [] : rulesOf(`${path}[]`, schema.items)),
  ...(schema.additionalProperties === undefined ? [] : rulesOf(`${path}[*]`, schema.additionalProperties)),
];

const fieldRows = (path: string, schema: StructuralSchema): readonly FieldRow[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const propertyPath = `${path}.${name}`;
    const row: FieldRow = {
      path: propertyPath,
      type: typeName(property),
      isRequired: schema.required?.includes(name) ?? false,
      // The default of an object is the defaults of its fields, which have rows of their own.
      default: property.properties === undefined ? property.default : undefined,
      meaning: property.description ?? "",
    };
    const inner = property.type === "array" ? property.items : property;
    const innerPath = property.type === "array" ? `${propertyPath}[]` : propertyPath;
    return [row, ...(inner === undefined ? [] : fieldRows(innerPath, inner))];
  });

const specTable = (spec: StructuralSchema): string =>
  table(
    ["field", "type", "default", "meaning"],
    fieldRows("spec", spec).map((row) => [
      code(row.path),
      row.type,
      row.isRequired ? "required" : row.default === undefined ? "" : code(plain(row.default)),
      row.meaning,
    ]),
  );

const statusTable = (status: StructuralSchema): string =>
  table(
    ["field", "type", "meaning"],
    fieldRows("status", status).map((row) => [code(row.path), row.type, row.meaning]),
  );

const ruleTable = (root: StructuralSchema): string => {
  const pathsByMessage = Map.groupBy(rulesOf("", root), ({ message }) => message);
  return table(
    ["field", "what the API server says when the rule is broken"],
    [...pathsByMessage].map(([message, rules]) => [
      // A rule of the whole object is about its name: nothing else there is ours.
      rules.map(({ path }) => code(path === "" ? "metadata.name" : path)).join(", "),
      message,
    ]),
  );
};

const conditionTable = (): string =>
  table(
    ["condition", "good news is", "True means"],
    Object.entries(conditionTypes).map(([type, { polarity, meaning }]) => [
      code(type),
      polarity === "positive" ? "True" : "False",
      meaning,
    ]),
  );

const reasonTable = (): string =>
  table(
    ["reason", "meaning"],
    Object.entries(conditionReasons).map(([reason, meaning]) => [code(reason), meaning]),
  );

const columnTable = (columns: readonly PrinterColumn[]): string =>
  table(
    ["column", "shows"],
    columns.map(({ name, description }) => [name.toUpperCase(), description]),
  );

/** The page as Markdown. */
export const referencePage = (crd: CustomResourceDefinition): string => {
  const { names, group, versions } = crd.spec;
  const sections = versions.map(({ name, schema: { openAPIV3Schema: root }, additionalPrinterColumns }) =>
    [
      `# ${names.kind}`,
      `${root.description ?? ""} API version \`${group}/${name}\`, short name \`${names.shortNames.join("`, `")}\`.`,
      "This page is generated from the schema in `api/`: change that, then run `npm run generate`.",
      "## Spec",
      specTable(root.properties?.["spec"] ?? {}),
      "## Rules",
      ruleTable(root),
      "## Status",
      statusTable(root.properties?.["status"] ?? {}),
      "## Conditions",
      conditionTable(),
      "Reasons:",
      reasonTable(),
      "## Columns of `kubectl get`",
      columnTable(additionalPrinterColumns),
    ].join("\n\n"),
  );
  return `${sections.join("\n\n")}\n`;
};
