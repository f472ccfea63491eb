/** The objects of the fake API server, with one version counter and a history, as etcd keeps them. */

export interface StoredObject {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    creationTimestamp: string;
    labels?: Record<string, string>;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

export interface HistoryEntry {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Path of the collection without its namespace, e.g. `/api/v1/pods`. */
  readonly collection: string;
  readonly object: StoredObject;
}

/** An object as a test writes it: what is missing is filled in. */
export interface NewObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface FakeStore {
  readonly version: number;
  get(collection: string, namespace: string | undefined, name: string): StoredObject | undefined;
  list(collection: string, namespace: string | undefined): StoredObject[];
  /** Creates or replaces. A new object gets a new uid. */
  put(collection: string, object: NewObject): StoredObject;
  remove(collection: string, namespace: string | undefined, name: string): StoredObject | undefined;
  /** What happened after `version`, or undefined when that is no longer known. */
  since(version: number, collection: string): HistoryEntry[] | undefined;
  /** Forgets the history, as etcd's compaction does. */
  compact(): void;
  onChange(listener: (entry: HistoryEntry) => void): () => void;
}

export const createFakeStore = (): FakeStore => {
  const objects = new Map<string, StoredObject>();
  const listeners = new Set<(entry: HistoryEntry) => void>();
  let history: HistoryEntry[] = [];
  let oldestKnown = 0;
  let version = 100;
  let created = 0;

  const keyOf = (collection: string, namespace: string | undefined, name: string) =>
    `${collection}|${namespace ?? ""}|${name}`;
  const record = (type: HistoryEntry["type"], collection: string, object: StoredObject): void => {
    const entry = { version, type, collection, object };
    history.push(entry);
    for (const listener of listeners) listener(entry);
  };

  return {
    get version() {
      return version;
    },
    get: (collection, namespace, name) => objects.get(keyOf(collection, namespace, name)),
    list: (collection, namespace) =>
      [...objects.entries()]
        .filter(([key]) => key.startsWith(namespace === undefined ? `${collection}|` : `${collection}|${namespace}|`))
        .map(([, object]) => object),
    put(collection, object) {
      const key = keyOf(collection, object.metadata.namespace, object.metadata.name);
      const before = objects.get(key);
      version++;
      const stored: StoredObject = {
        ...object,
        metadata: {
          ...object.metadata,
          uid: before?.metadata.uid ?? `uid-${++created}`,
          creationTimestamp: before?.metadata.creationTimestamp ?? "2026-01-01T00:00:00Z",
          resourceVersion: String(version),
        },
      };
      objects.set(key, stored);
      record(before === undefined ? "ADDED" : "MODIFIED", collection, stored);
      return stored;
    },
    remove(collection, namespace, name) {
      const key = keyOf(collection, namespace, name);
      const object = objects.get(key);
      if (object === undefined) return undefined;
      version++;
      objects.delete(key);
      const last = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
      record("DELETED", collection, last);
      return last;
    },
    since: (from, collection) =>
      from < oldestKnown
        ? undefined
        : history.filter((entry) => entry.version > from && entry.collection === collection),
    compact() {
      history = [];
      oldestKnown = version;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
