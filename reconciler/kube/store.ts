/** The objects that an informer knows, and ways to find them. */
import { type KubeObject, keyOf } from "./kubeObject.ts";

/** For each index, the keys under which an object is found; none leaves it out of that index. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** Read side of a store. What it returns is shared: never change it. */
export interface Store<T extends KubeObject> {
  /** `namespace` is undefined for cluster-scoped objects. */
  get(namespace: string | undefined, name: string): T | undefined;
  /** By `namespace/name`, as workqueues hold it. */
  byKey(key: string): T | undefined;
  list(): T[];
  /** Throws for an index that was not defined, which would else look like "nothing found" for ever. */
  byIndex(index: string, key: string): T[];
  readonly size: number;
}

/** A store and the ways to change it. */
export interface MutableStore<T extends KubeObject> extends Store<T> {
  /** `key` is the object's own. Returns the object that was there before. */
  set(key: string, object: T): T | undefined;
  /** Returns the object that was there. */
  remove(key: string): T | undefined;
  keys(): IterableIterator<string>;
}

export const createStore = <T extends KubeObject>(indexers: Indexers<T> = {}): MutableStore<T> => {
  const objects = new Map<string, T>();
  const indexes = Object.entries(indexers).map(([name, keysOf]) => ({
    name,
    keysOf,
    entries: new Map<string, Map<string, T>>(),
  }));
  const byName = new Map(indexes.map((index) => [index.name, index.entries]));

  const unindex = (key: string, object: T): void => {
    for (const { keysOf, entries } of indexes) {
      for (const indexKey of keysOf(object)) {
        const found = entries.get(indexKey);
        found?.delete(key);
        if (found?.size === 0) entries.delete(indexKey);
      }
    }
  };
  const index = (key: string, object: T): void => {
    for (const { keysOf, entries } of indexes) {
      for (const indexKey of keysOf(object)) {
        const found = entries.get(indexKey);
        if (found === undefined) entries.set(indexKey, new Map([[key, object]]));
        else found.set(key, object);
      }
    }
  };

  const remove = (key: string): T | undefined => {
    const old = objects.get(key);
    if (old === undefined) return undefined;
    unindex(key, old);
    objects.delete(key);
    return old;
  };

  return {
    get: (namespace, name) => objects.get(keyOf(namespace, name)),
    byKey: (key) => objects.get(key),
    list: () => [...objects.values()],
    byIndex(name, key) {
      const entries = byName.get(name);
      if (entries === undefined) throw new RangeError(`no index "${name}" was defined`);
      return [...(entries.get(key)?.values() ?? [])];
    },
    get size() {
      return objects.size;
    },
    set(key, object) {
      const old = objects.get(key);
      if (old !== undefined) unindex(key, old);
      objects.set(key, object);
      index(key, object);
      return old;
    },
    remove,
    keys: () => objects.keys(),
  };
};
