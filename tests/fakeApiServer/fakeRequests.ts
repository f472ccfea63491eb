/** The fake API server's answers, as far as a client can tell them from the real one's. */

import type { FakeStore, NewObject, StoredObject } from "./fakeStore.ts";
import { applyJsonPatch, type Operation } from "./jsonPatch.ts";

/** What a path names. */
export interface Target {
  /** Path of the collection without its namespace. */
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

export type Reply =
  | { readonly body: unknown }
  | { readonly status: { readonly code: number; readonly reason: string } };

interface Asked {
  readonly method: string;
  readonly body: string;
}

const refuse = (code: number, reason: string): Reply => ({ status: { code, reason } });
const notFound = refuse(404, "NotFound");
const conflict = refuse(409, "Conflict");

export const targetOf = (path: string): Target => {
  const parts = path.split("/").filter((part) => part !== "");
  const root = parts.slice(0, parts[0] === "api" ? 2 : 3);
  const rest = parts.slice(root.length);
  const namespaced = rest[0] === "namespaces" && rest.length > 2;
  const [plural, name, subresource] = namespaced ? rest.slice(2) : rest;
  return {
    collection: `/${[...root, plural].join("/")}`,
    namespace: namespaced ? rest[1] : undefined,
    name,
    subresource,
  };
};

export const answer = (store: FakeStore, target: Target, asked: Asked, query: URLSearchParams): Reply => {
  switch (asked.method) {
    case "GET":
      return target.name === undefined ? list(store, target, query) : get(store, target);
    case "POST":
      return create(store, target, asked);
    case "PUT":
      return update(store, target, asked);
    case "PATCH":
      return patch(store, target, asked);
    case "DELETE":
      return remove(store, target, asked);
    default:
      return refuse(405, "MethodNotAllowed");
  }
};

const find = (store: FakeStore, { collection, namespace, name }: Target): StoredObject | undefined =>
  name === undefined ? undefined : store.get(collection, namespace, name);

const get = (store: FakeStore, target: Target): Reply => {
  const object = find(store, target);
  return object === undefined ? notFound : { body: object };
};

/** Pages are cut from the present state; a token says the version of the first page and where the next one starts. */
const list = (store: FakeStore, target: Target, query: URLSearchParams): Reply => {
  const all = store.list(target.collection, target.namespace);
  const limit = Number(query.get("limit") ?? "0");
  const [version = String(store.version), offset = "0"] = (query.get("continue") ?? "").split(":").filter(Boolean);
  // As the real one, which serves version 0 whole from its cache.
  const from = Number(offset);
  const size = limit === 0 || query.get("resourceVersion") === "0" ? all.length : limit;
  const more = from + size < all.length;
  return {
    body: {
      kind: "List",
      apiVersion: "v1",
      metadata: { resourceVersion: version, ...(more ? { continue: `${version}:${from + size}` } : {}) },
      items: all.slice(from, from + size),
    },
  };
};

const create = (store: FakeStore, target: Target, asked: Asked): Reply => {
  const object = JSON.parse(asked.body) as NewObject;
  if (find(store, { ...target, name: object.metadata.name }) !== undefined) return refuse(409, "AlreadyExists");
  return { body: store.put(target.collection, object) };
};

const update = (store: FakeStore, target: Target, asked: Asked): Reply => {
  const before = find(store, target);
  if (before === undefined) return notFound;
  const object = JSON.parse(asked.body) as NewObject;
  const expected = object.metadata["resourceVersion"];
  if (expected !== undefined && expected !== before.metadata.resourceVersion) return conflict;
  return { body: store.put(target.collection, object) };
};

/** Merge patch and apply alike: who owns a field is left to tests on the real one. */
const patch = (store: FakeStore, target: Target, asked: Asked): Reply => {
  const before = find(store, target);
  const body = JSON.parse(asked.body) as NewObject | readonly Operation[];
  if (isJsonPatch(body)) return before === undefined ? notFound : patchMembers(store, target, before, body);
  const changes = body;
  if (before === undefined) {
    return changes["kind"] === undefined ? notFound : { body: store.put(target.collection, changes) };
  }
  return { body: store.put(target.collection, merge(before, changes) as StoredObject) };
};

const isJsonPatch = (body: NewObject | readonly Operation[]): body is readonly Operation[] => Array.isArray(body);

const patchMembers = (
  store: FakeStore,
  target: Target,
  before: StoredObject,
  operations: readonly Operation[],
): Reply => {
  const patched = applyJsonPatch(before, operations);
  if (patched === undefined) return refuse(422, "Invalid");
  return { body: store.put(target.collection, patched as StoredObject) };
};

const merge = (base: unknown, changes: unknown): unknown => {
  if (!isRecord(changes)) return changes;
  const before = isRecord(base) ? base : {};
  const merged = Object.entries({ ...before, ...changes })
    .filter(([name]) => changes[name] !== null)
    .map(([name, value]) => [name, name in changes ? merge(before[name], value) : value]);
  return Object.fromEntries(merged);
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

interface Preconditions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const remove = (store: FakeStore, target: Target, asked: Asked): Reply => {
  const before = find(store, target);
  if (before === undefined || target.name === undefined) return notFound;
  const { preconditions = {} } = (asked.body === "" ? {} : JSON.parse(asked.body)) as Preconditions;
  const { uid = before.metadata.uid, resourceVersion = before.metadata.resourceVersion } = preconditions;
  if (uid !== before.metadata.uid || resourceVersion !== before.metadata.resourceVersion) return conflict;
  return { body: store.remove(target.collection, target.namespace, target.name) };
};
