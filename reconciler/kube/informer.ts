/** A local copy of one collection that follows every change, and tells of them. */
import type { Random } from "./backoff.ts";
import { type Clock, sleep, systemClock } from "./clock.ts";
import type { ApiError } from "./errors.ts";
import type { KubeClient } from "./kubeClient.ts";
import { type KubeObject, objectKey } from "./kubeObject.ts";
import { type KubeLogger, silentLogger } from "./logger.ts";
import type { KubeMetrics } from "./metrics.ts";
import { type Mirror, type ReflectorObserver, runReflector, type Selection } from "./reflector.ts";
import type { Resource } from "./resource.ts";
import { createSlicedQueue } from "./slicedQueue.ts";
import { createStore, type Indexers, type Store } from "./store.ts";

/** What happened to an object. */
export type Change<T> =
  /** `initial`: it was there already, when the informer or the handler started. */
  | { readonly type: "added"; readonly object: T; readonly initial: boolean }
  /** On a resync `old` is the very same object. */
  | { readonly type: "updated"; readonly old: T; readonly object: T }
  /** `finalStateUnknown`: its end was missed, so `object` is the last that was known of it. */
  | { readonly type: "deleted"; readonly object: T; readonly finalStateUnknown: boolean };

export interface InformerOptions<T extends KubeObject> extends Selection {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  /** Keeps the objects without metadata.managedFields. Default: with them. */
  readonly withoutManagedFields?: boolean;
  /** Changes each object before it is kept: to drop what nobody needs. */
  readonly transform?: (object: T) => T;
  readonly indexers?: Indexers<T>;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: KubeLogger;
  readonly metrics?: KubeMetrics;
  /** For metrics. Default: the plural of the resource. */
  readonly name?: string;
  /** All objects are told again this often, against handlers that miss one. Default 10 h. */
  readonly resyncMs?: number;
  /** Silence after which a watch counts as dead and is opened anew. Default 100 s; bookmarks come every minute. */
  readonly inactivityMs?: number;
  /** Makes a handler that changes an object throw. For tests: it costs time on large objects. */
  readonly freeze?: boolean;
}

export interface Informer<T extends KubeObject> {
  readonly store: Store<T>;
  /** Begins, until `signal` aborts. To be called once. */
  start(signal: AbortSignal): void;
  /** The first list is in the store, and the handlers were told of all of it. */
  hasSynced(): boolean;
  /** Resolves once synced; rejects with the signal's reason when that aborts first. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  /**
   * Calls `handler` for each change, in order, after the store has it; first for all objects already there. A handler
   * must be quick: it queues a key. Returns the way to end it.
   */
  onChange(handler: (change: Change<T>) => void): () => void;
  /** Why the API server could not be followed, since it last could. */
  readonly lastError: ApiError | undefined;
}

const defaultResyncMs = 10 * 3_600_000;
const defaultInactivityMs = 100_000;
/** The longest that the event loop is kept from other work while a large list is taken in. */
const sliceMs = 8;

/** One step of the mirror, in the order in which they were learnt. */
type Delta<T> =
  | { readonly type: "upsert"; readonly key: string; readonly object: T; readonly initial: boolean }
  | { readonly type: "remove"; readonly object: T }
  /** Whatever is not among `objects`, by key, is gone. */
  | { readonly type: "keepOnly"; readonly objects: ReadonlyMap<string, T> }
  | { readonly type: "resync"; readonly key: string }
  | { readonly type: "synced" };

export const createInformer = <T extends KubeObject>(options: InformerOptions<T>): Informer<T> => {
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? silentLogger;
  const metrics = options.metrics?.informer(options.name ?? options.resource.plural);
  const store = createStore<T>(options.indexers);
  const handlers = new Set<(change: Change<T>) => void>();
  const syncedCallbacks = new Set<() => void>();
  let started = false;
  let synced = false;
  let lastError: ApiError | undefined;
  let watchOpenedAt: number | undefined;
  let lastHeardAt = clock.now();

  const tell = (handler: (change: Change<T>) => void, change: Change<T>): void => {
    try {
      handler(change);
    } catch (error) {
      metrics?.handlerFailed();
      logger.error({ err: error, key: objectKey(change.object) }, "an informer's handler threw");
    }
  };
  const tellAll = (change: Change<T>): void => {
    for (const handler of handlers) tell(handler, change);
  };

  const prepare = (object: T): T => {
    let kept = object;
    try {
      if (options.transform !== undefined) kept = options.transform(object);
    } catch (error) {
      // One object that it cannot bear must not keep the others away.
      logger.error(
        { err: error, key: objectKey(object) },
        "an informer's transform threw; the object is kept as it is",
      );
    }
    return options.freeze === true ? deepFreeze(kept) : kept;
  };

  const upsert = (key: string, object: T, initial: boolean): void => {
    const old = store.byKey(key);
    const sameObject = old?.metadata.uid === object.metadata.uid;
    if (sameObject && old.metadata.resourceVersion === object.metadata.resourceVersion) return;
    store.set(key, object);
    if (old === undefined) tellAll({ type: "added", object, initial });
    else if (sameObject) tellAll({ type: "updated", old, object });
    else {
      // Deleted and created anew while nobody watched: what is known of the old one must not pass to the new one.
      tellAll({ type: "deleted", object: old, finalStateUnknown: true });
      tellAll({ type: "added", object, initial: false });
    }
  };

  const remove = (key: string, last: T | undefined): void => {
    const old = store.remove(key);
    if (old === undefined) return;
    tellAll({ type: "deleted", object: last ?? old, finalStateUnknown: last === undefined });
  };

  const apply = (delta: Delta<T>): void => {
    switch (delta.type) {
      case "upsert":
        upsert(delta.key, delta.object, delta.initial);
        break;
      case "remove":
        remove(objectKey(delta.object), delta.object);
        break;
      case "keepOnly":
        for (const key of [...store.keys()]) if (!delta.objects.has(key)) remove(key, undefined);
        break;
      case "resync": {
        const object = store.byKey(delta.key);
        if (object !== undefined) tellAll({ type: "updated", old: object, object });
        break;
      }
      case "synced":
        synced = true;
        for (const callback of [...syncedCallbacks]) callback();
        break;
    }
  };
  const deltas = createSlicedQueue<Delta<T>>({
    now: () => clock.now(),
    sliceMs,
    run(delta) {
      try {
        apply(delta);
      } catch (error) {
        // An indexer that cannot bear this object must not keep all later ones away.
        logger.error({ err: error, delta: delta.type }, "an informer could not take a change");
      }
    },
  });

  const mirror: Mirror<T> = {
    replace(list) {
      const objects = new Map(list.map((object) => [objectKey(object), object]));
      const initial = !synced;
      deltas.push([
        { type: "keepOnly", objects },
        ...Array.from(objects, ([key, object]): Delta<T> => ({ type: "upsert", key, object, initial })),
        { type: "synced" },
      ]);
    },
    upsert: (object) => deltas.push([{ type: "upsert", key: objectKey(object), object, initial: false }]),
    remove: (object) => deltas.push([{ type: "remove", object }]),
  };

  const observer: ReflectorObserver = {
    relisted(cause) {
      lastError = undefined;
      metrics?.relisted(cause);
    },
    watchOpened() {
      lastError = undefined;
      watchOpenedAt = clock.now();
      metrics?.watchRestarted();
    },
    watchEnded: () => void (watchOpenedAt = undefined),
    heard: () => void (lastHeardAt = clock.now()),
    failed: (error) => void (lastError = error),
  };
  metrics?.onScrape(() => ({
    objects: store.size,
    watchAgeMs: watchOpenedAt === undefined ? 0 : clock.now() - watchOpenedAt,
    lastEventAgeMs: clock.now() - lastHeardAt,
  }));

  const resyncUntil = async (signal: AbortSignal): Promise<void> => {
    const resyncMs = options.resyncMs ?? defaultResyncMs;
    for (;;) {
      await sleep(clock, resyncMs, signal);
      if (signal.aborted) return;
      deltas.push([...store.keys()].map((key) => ({ type: "resync", key })));
    }
  };

  return {
    store,
    start(signal) {
      if (started) throw new Error("this informer was started before");
      started = true;
      const { namespace, labelSelector, fieldSelector } = options;
      const running = runReflector(
        {
          client: options.client,
          resource: options.resource,
          selection: {
            ...(namespace === undefined ? {} : { namespace }),
            ...(labelSelector === undefined ? {} : { labelSelector }),
            ...(fieldSelector === undefined ? {} : { fieldSelector }),
          },
          withoutManagedFields: options.withoutManagedFields === true,
          prepare,
          mirror,
          observer,
          clock,
          random: options.random ?? Math.random,
          logger,
          inactivityMs: options.inactivityMs ?? defaultInactivityMs,
        },
        signal,
      );
      void Promise.all([running, resyncUntil(signal)]);
    },
    hasSynced: () => synced,
    whenSynced: (signal) =>
      new Promise((resolve, reject) => {
        if (synced) {
          resolve();
          return;
        }
        const onAbort = () => {
          syncedCallbacks.delete(onSynced);
          reject(abortReason(signal, lastError));
        };
        const onSynced = () => {
          syncedCallbacks.delete(onSynced);
          signal?.removeEventListener("abort", onAbort);
          resolve();
        };
        if (signal?.aborted === true) {
          onAbort();
          return;
        }
        syncedCallbacks.add(onSynced);
        signal?.addEventListener("abort", onAbort, { once: true });
      }),
    onChange(handler) {
      for (const object of store.list()) tell(handler, { type: "added", object, initial: true });
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
    get lastError() {
      return lastError;
    },
  };
};

/** The cause a person needs is why the API server could not be followed, not that someone stopped waiting. */
const abortReason = (signal: AbortSignal | undefined, lastError: ApiError | undefined): Error => {
  const reason: unknown = signal?.reason;
  return new Error(`not synced: ${lastError?.message ?? "no answer yet"}`, { cause: lastError ?? reason });
};

const deepFreeze = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
};
