/**
 * Server-side apply's record of who owns which fields, read backwards: what one manager applied, as it is now.
 * Whoever changes an owned field by any other way takes its ownership along, so the projection changes with it; what
 * other managers add beside it (status, defaults, a bound volume) never shows.
 */
import type { KubeObject, ManagedFields } from "../kube/index.ts";
import { contentHash } from "./contentHash.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * The part of `object` that `manager` applied, as plain JSON with list items named by their keys; `undefined` when it
 * applied nothing.
 */
export const ownFields = (object: KubeObject, manager: string): unknown => {
  const entries = object.metadata.managedFields ?? [];
  const own = entries.find((entry) => isApplyOf(entry, manager));
  if (own === undefined) return undefined;
  const others = entries.filter((entry) => entry !== own).map((entry) => asFields(entry.fieldsV1));
  return project(asFields(own.fieldsV1), object, others);
};

/**
 * Hash of which fields `manager` owns, without their values: it stays the same as long as nobody took one away, whatever
 * controllers write into the object meanwhile.
 */
export const ownedFieldsHash = ({ metadata }: Pick<KubeObject, "metadata">, manager: string): string =>
  contentHash(metadata.managedFields?.find((entry) => isApplyOf(entry, manager))?.fieldsV1);

/** A field manager and what it owns. */
export interface FieldOwner {
  readonly who: string;
  /** RFC 3339, when it wrote last; empty when unknown. */
  readonly time: string;
  /** Paths of the fields. */
  readonly fields: readonly string[];
}

/** Managers other than `manager` that own fields outside status, newest first. */
export const foreignOwners = (object: KubeObject, manager: string): readonly FieldOwner[] =>
  (object.metadata.managedFields ?? [])
    .filter((entry) => entry.manager !== manager && entry.subresource !== "status")
    .sort((a, b) => (b.time ?? "").localeCompare(a.time ?? ""))
    .map(({ manager: who = "unknown", time = "", fieldsV1 }) => ({ who, time, fields: leafPaths(asFields(fieldsV1)) }));

const isApplyOf = (entry: ManagedFields, manager: string): boolean =>
  entry.manager === manager && entry.operation === "Apply" && entry.subresource === undefined;

const asFields = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});

/** "." owns only that the thing exists; nothing at all below a field owns its whole value. */
const project = (own: Fields, value: unknown, others: readonly Fields[]): unknown => {
  const names = Object.keys(own);
  if (names.length === 0) return withoutFieldsOf(value, others);
  const projected: Record<string, unknown> = {};
  for (const name of names) {
    if (name === ".") continue;
    const child = childOf(value, name);
    if (child === undefined) continue;
    projected[name.startsWith("f:") ? name.slice(2) : name] = project(
      asFields(own[name]),
      child,
      others.filter((other) => name in other).map((other) => asFields(other[name])),
    );
  }
  return projected;
};

/** An object that we applied as empty may be filled by others, field by field: that is theirs. */
const withoutFieldsOf = (value: unknown, others: readonly Fields[]): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !others.some((other) => `f:${name}` in other)));
};

/** The child that one path element names: `f:` a field, `k:` a list item by its keys, `v:` a set member, `i:` by index. */
const childOf = (value: unknown, element: string): unknown => {
  const kind = element.slice(0, 2);
  const name = element.slice(2);
  if (kind === "f:") return asFields(value)[name];
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  switch (kind) {
    case "k:": {
      const keys = Object.entries(asFields(parseJson(name)));
      return items.find((item) => keys.every(([key, expected]) => asFields(item)[key] === expected));
    }
    case "v:": {
      const member = parseJson(name);
      return items.find((item) => item === member);
    }
    case "i:":
      return items[Number(name)];
    default:
      return undefined;
  }
};

/** The API server writes these itself; anything unreadable simply names no item. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const leafPaths = (fields: Fields, path = ""): readonly string[] =>
  Object.entries(fields).flatMap(([element, below]) => {
    if (element === ".") return [];
    const here = element.startsWith("f:") ? `${path}.${element.slice(2)}` : `${path}[${element.slice(2)}]`;
    const deeper = leafPaths(asFields(below), here);
    return deeper.length === 0 ? [here.replace(/^\./, "")] : deeper;
  });
