/** Which keys are to be reconciled next: each waits once, is in one worker at a time, and comes back at a growing pace. */
import { type Clock, systemClock, type Timer } from "./clock.ts";
import type { KubeMetrics } from "./metrics.ts";

export interface WorkqueueOptions {
  /** For metrics. */
  readonly name: string;
  readonly clock?: Clock;
  readonly metrics?: KubeMetrics;
  /** First wait after a failure. Default 5 ms; doubles with each further one. */
  readonly firstRetryMs?: number;
  /** Longest wait after a failure. Default 1000 s. */
  readonly mostRetryMs?: number;
}

export interface Workqueue<K extends string> {
  /**
   * Makes `key` wait, once however often it is added. A key that is in work waits after its {@link done}. Higher
   * `priority` goes first (default 0); a key added again keeps the highest that was asked for.
   */
  add(key: K, options?: { readonly priority?: number }): void;
  /** As {@link add}, `ms` from now; of several the earliest counts. */
  addAfter(key: K, ms: number, options?: { readonly priority?: number }): void;
  /** As {@link addAfter}, with a wait that doubles each time until {@link forget}. */
  addRateLimited(key: K, options?: { readonly priority?: number }): void;
  /** The next failure of `key` counts as its first. */
  forget(key: K): void;
  /** How often `key` failed since it was last forgotten. */
  retries(key: K): number;
  /** Takes the next key, waiting for one; undefined once `signal` aborts or the queue is shut down and empty. */
  get(signal?: AbortSignal): Promise<K | undefined>;
  /** Ends the work on a key; to be called for each one taken. */
  done(key: K): void;
  /** Keys that wait, without those in work or added for later. */
  readonly depth: number;
  /**
   * Takes no more keys. With `drain`, waiting keys are still handed out and it resolves when all are done; without, they
   * are dropped and it resolves when those in work are done.
   */
  shutDown(options?: { readonly drain?: boolean }): Promise<void>;
}

interface Entry {
  readonly priority: number;
  readonly since: number;
}

interface Delayed {
  readonly at: number;
  readonly priority: number;
  readonly timer: Timer;
}

export const createWorkqueue = <K extends string>(options: WorkqueueOptions): Workqueue<K> => {
  const clock = options.clock ?? systemClock;
  const firstRetryMs = options.firstRetryMs ?? 5;
  const mostRetryMs = options.mostRetryMs ?? 1_000_000;
  const metrics = options.metrics?.workqueue(options.name);

  /** Waiting keys of each priority, in the order they came; highest priority first. */
  const waiting = new Map<number, Map<K, Entry>>();
  let priorities: number[] = [];
  const priorityOf = new Map<K, number>();
  const inWork = new Map<K, number>();
  /** Added while in work, with their priority. */
  const deferred = new Map<K, number>();
  const delayed = new Map<K, Delayed>();
  const failures = new Map<K, number>();
  const takers = new Set<(key: K | undefined) => void>();
  const idleCallbacks: (() => void)[] = [];
  let shut = false;

  metrics?.onScrape(() => [...inWork.values()].map((since) => clock.now() - since));

  const reportDepth = (priority: number) => metrics?.depth(priority, waiting.get(priority)?.size ?? 0);

  const put = (key: K, priority: number, since: number): void => {
    let level = waiting.get(priority);
    if (level === undefined) {
      level = new Map();
      waiting.set(priority, level);
      priorities = [...waiting.keys()].sort((a, b) => b - a);
    }
    level.set(key, { priority, since });
    priorityOf.set(key, priority);
    reportDepth(priority);
  };

  const take = (): K | undefined => {
    for (const priority of priorities) {
      const level = waiting.get(priority);
      const next = level?.entries().next();
      if (level === undefined || next === undefined || next.done === true) continue;
      const [key, entry] = next.value;
      level.delete(key);
      priorityOf.delete(key);
      inWork.set(key, clock.now());
      metrics?.waited(clock.now() - entry.since);
      reportDepth(priority);
      return key;
    }
    return undefined;
  };

  const offer = (): void => {
    const [taker] = takers;
    if (taker === undefined || priorityOf.size === 0) return;
    takers.delete(taker);
    taker(take());
  };

  const settle = (): void => {
    if (!shut || priorityOf.size > 0) return;
    for (const taker of takers) taker(undefined);
    takers.clear();
    if (inWork.size > 0) return;
    for (const callback of idleCallbacks.splice(0)) callback();
  };

  const add = (key: K, priority: number): void => {
    if (shut) return;
    const present = inWork.has(key) ? deferred.get(key) : priorityOf.get(key);
    if (present !== undefined && present >= priority) return;
    if (inWork.has(key)) {
      deferred.set(key, priority);
      if (present === undefined) metrics?.added();
      return;
    }
    const since = present === undefined ? undefined : waiting.get(present)?.get(key)?.since;
    if (present !== undefined) {
      waiting.get(present)?.delete(key);
      reportDepth(present);
    } else metrics?.added();
    put(key, priority, since ?? clock.now());
    offer();
  };

  const addAfter = (key: K, ms: number, priority: number): void => {
    if (shut) return;
    if (ms <= 0) {
      add(key, priority);
      return;
    }
    const at = clock.now() + ms;
    const present = delayed.get(key);
    const highest = Math.max(priority, present?.priority ?? priority);
    if (present !== undefined && present.at <= at && present.priority >= priority) return;
    present?.timer.cancel();
    const earliest = Math.min(at, present?.at ?? at);
    const timer = clock.setTimeout(() => {
      delayed.delete(key);
      add(key, highest);
    }, earliest - clock.now());
    delayed.set(key, { at: earliest, priority: highest, timer });
  };

  return {
    add: (key, { priority = 0 } = {}) => add(key, priority),
    addAfter: (key, ms, { priority = 0 } = {}) => addAfter(key, ms, priority),
    addRateLimited(key, { priority = 0 } = {}) {
      const failed = failures.get(key) ?? 0;
      failures.set(key, failed + 1);
      metrics?.retried();
      addAfter(key, Math.min(firstRetryMs * 2 ** failed, mostRetryMs), priority);
    },
    forget: (key) => void failures.delete(key),
    retries: (key) => failures.get(key) ?? 0,
    get(signal) {
      if (signal?.aborted === true) return Promise.resolve(undefined);
      const next = take();
      if (next !== undefined || shut) return Promise.resolve(next);
      return new Promise((resolve) => {
        const onAbort = () => {
          takers.delete(taker);
          resolve(undefined);
        };
        const taker = (key: K | undefined) => {
          signal?.removeEventListener("abort", onAbort);
          resolve(key);
        };
        takers.add(taker);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    },
    done(key) {
      const since = inWork.get(key);
      if (since === undefined) throw new RangeError(`key "${key}" is not in work`);
      inWork.delete(key);
      metrics?.worked(clock.now() - since);
      const priority = deferred.get(key);
      deferred.delete(key);
      if (priority !== undefined) {
        put(key, priority, clock.now());
        offer();
      }
      settle();
    },
    get depth() {
      return priorityOf.size;
    },
    shutDown({ drain = false } = {}) {
      shut = true;
      for (const { timer } of delayed.values()) timer.cancel();
      delayed.clear();
      if (!drain) {
        for (const priority of priorities) {
          waiting.get(priority)?.clear();
          reportDepth(priority);
        }
        priorityOf.clear();
        deferred.clear();
      }
      return new Promise((resolve) => {
        idleCallbacks.push(resolve);
        settle();
      });
    },
  };
};
