/** Keeps a mirror of one collection up to date: a list, then a watch, for as long as it takes, whatever fails. */
import { type Backoff, createBackoff, type Random } from "./backoff.ts";
import { type Clock, sleep, type Timer } from "./clock.ts";
import { ApiError, errorOfStatus, isExpired, isTooLargeResourceVersion, type Status } from "./errors.ts";
import type { KubeClient, WatchEvent } from "./kubeClient.ts";
import type { KubeObject } from "./kubeObject.ts";
import type { KubeLogger } from "./logger.ts";
import { dropManagedFields } from "./managedFields.ts";
import type { Resource } from "./resource.ts";
import { afterWatch, type NextStep } from "./watchEnd.ts";

/** Which objects. */
export interface Selection {
  /** Left out: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Where the mirror is kept. */
export interface Mirror<T> {
  /** These are all objects there are. */
  replace(objects: readonly T[]): void;
  upsert(object: T): void;
  /** `object` is the last state. */
  remove(object: T): void;
}

/** What a reflector tells of itself. */
export interface ReflectorObserver {
  relisted(cause: string): void;
  watchOpened(): void;
  watchEnded(): void;
  /** The server said anything at all. */
  heard(): void;
  failed(error: ApiError): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  readonly selection: Selection;
  readonly withoutManagedFields: boolean;
  /**
   * Makes of each object what is kept. Done on arrival: what it drops from a large list then dies young, which the garbage
   * collector does in passing. Must not throw.
   */
  readonly prepare: (object: T) => T;
  readonly mirror: Mirror<T>;
  readonly observer: ReflectorObserver;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: KubeLogger;
  /** Silence after which a watch counts as dead. Must exceed the minute at which bookmarks come. */
  readonly inactivityMs: number;
}

const firstBackoffMs = 800;
const mostBackoffMs = 30_000;
const backoffResetMs = 120_000;
/** The server ends each watch after 5 to 10 minutes: that spreads them over its replicas again. */
const shortestWatchSeconds = 300;
const openTimeoutMs = 10_000;
const listPageTimeoutMs = 60_000;

/** Runs until `signal` aborts. Never throws: all errors are met with another try. */
export const runReflector = async <T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> => {
  const { clock, random } = options;
  const backoff = createBackoff({
    clock,
    random,
    firstMs: firstBackoffMs,
    mostMs: mostBackoffMs,
    resetMs: backoffResetMs,
  });
  // Whatever the API server has cached is good enough to begin with, and spares etcd when all clients restart at once.
  let from: string | undefined = "0";
  let cause = "start";
  while (!signal.aborted) {
    const listed: Listed = await list(options, from, cause, signal);
    if (listed.ok) {
      const end: WatchingEnd = await watchOn(options, listed.resourceVersion, backoff, signal);
      from = end.resourceVersion;
      cause = end.step.cause;
      if (!end.step.now) await sleep(clock, backoff.nextMs(), signal);
    } else {
      // The version asked for is gone or not yet there: take the newest, whatever it is.
      if (isExpired(listed.error) || isTooLargeResourceVersion(listed.error)) from = undefined;
      await sleep(clock, Math.max(backoff.nextMs(), listed.error.retryAfterMs ?? 0), signal);
    }
  }
};

type Listed =
  | { readonly ok: true; readonly resourceVersion: string }
  | { readonly ok: false; readonly error: ApiError };

const list = async <T extends KubeObject>(
  { client, resource, selection, withoutManagedFields, prepare, mirror, observer, logger }: ReflectorOptions<T>,
  from: string | undefined,
  cause: string,
  signal: AbortSignal,
): Promise<Listed> => {
  const objects: T[] = [];
  try {
    const { resourceVersion } = await client.listEach(
      resource,
      {
        ...selection,
        withoutManagedFields,
        signal,
        timeoutMs: listPageTimeoutMs,
        ...(from === undefined ? {} : { resourceVersion: from }),
      },
      (object) => void objects.push(prepare(object)),
    );
    observer.heard();
    observer.relisted(cause);
    mirror.replace(objects);
    return { ok: true, resourceVersion };
  } catch (thrown) {
    const error = asApiError(thrown);
    if (!signal.aborted) {
      observer.failed(error);
      logger.warn({ err: error, resource: resource.plural }, "cannot list; will try again");
    }
    return { ok: false, error };
  }
};

type Relist = Extract<NextStep, { readonly do: "relist" }>;

interface WatchingEnd {
  readonly step: Relist;
  readonly resourceVersion: string;
}

/** Watches, resuming as often as that makes sense; returns when a new list is due or `signal` aborts. */
const watchOn = async <T extends KubeObject>(
  options: ReflectorOptions<T>,
  startVersion: string,
  backoff: Backoff,
  signal: AbortSignal,
): Promise<WatchingEnd> => {
  const { clock, observer, logger, resource } = options;
  const position = { resourceVersion: startVersion };
  let lastOpenAt = clock.now();
  while (!signal.aborted) {
    const watched = await watchOnce(options, position, signal);
    if (watched.openedAt !== undefined) lastOpenAt = clock.now();
    if (watched.error !== undefined && watched.error.kind !== "aborted") {
      observer.failed(watched.error);
      logger.warn({ err: watched.error, resource: resource.plural }, "watch ended");
    }
    const step = afterWatch({
      error: watched.error,
      inBand: watched.inBand,
      opened: watched.openedAt !== undefined,
      received: watched.received,
      durationMs: watched.openedAt === undefined ? 0 : clock.now() - watched.openedAt,
      failingMs: clock.now() - lastOpenAt,
    });
    switch (step.do) {
      case "resume":
        break;
      case "resumeLater":
        await sleep(clock, Math.max(backoff.nextMs(), step.atLeastMs), signal);
        break;
      case "relist":
        return { step, resourceVersion: position.resourceVersion };
    }
  }
  return { step: { do: "relist", cause: "aborted", now: true }, resourceVersion: position.resourceVersion };
};

interface Watched {
  readonly error: ApiError | undefined;
  readonly inBand: boolean;
  readonly openedAt: number | undefined;
  readonly received: number;
}

/** One watch; moves `position` on with each event. */
const watchOnce = async <T extends KubeObject>(
  options: ReflectorOptions<T>,
  position: { resourceVersion: string },
  signal: AbortSignal,
): Promise<Watched> => {
  const { client, resource, selection, mirror, observer, clock, random, inactivityMs } = options;
  const prepare = (object: T): T => options.prepare(options.withoutManagedFields ? dropManagedFields(object) : object);
  const ended = new AbortController();
  const abort = () => ended.abort();
  signal.addEventListener("abort", abort, { once: true });
  let silence: Timer | undefined;
  let heardAt = clock.now();
  const heard = () => {
    observer.heard();
    heardAt = clock.now();
  };
  // Looks again when it is due, instead of being set anew by each event.
  const endWhenSilent = (ms: number): void => {
    silence = clock.setTimeout(() => {
      const leftMs = inactivityMs - (clock.now() - heardAt);
      if (leftMs > 0) endWhenSilent(leftMs);
      else ended.abort(silenceError(resource.plural, inactivityMs));
    }, ms);
  };
  let openedAt: number | undefined;
  let received = 0;
  let inBandError: ApiError | undefined;

  const onEvent = (event: WatchEvent): void => {
    heard();
    if (event.type === "ERROR") {
      inBandError = errorOfInBandStatus(event.object, resource.plural);
      throw inBandError;
    }
    if (!isKubeObject(event.object)) {
      throw new ApiError({ kind: "malformed", message: `watch of ${resource.plural}: an event without an object` });
    }
    // The API server sends what the resource promises.
    const object = event.object as T;
    received++;
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
        mirror.upsert(prepare(object));
        break;
      case "DELETED":
        mirror.remove(prepare(object));
        break;
      case "BOOKMARK":
        break;
    }
    position.resourceVersion = object.metadata.resourceVersion;
  };

  let error: ApiError | undefined;
  try {
    await client.watch(resource, {
      ...selection,
      resourceVersion: position.resourceVersion,
      timeoutSeconds: Math.round(shortestWatchSeconds * (1 + random())),
      headersTimeoutMs: openTimeoutMs,
      signal: ended.signal,
      onOpen: () => {
        openedAt = clock.now();
        observer.watchOpened();
        heard();
        endWhenSilent(inactivityMs);
      },
      onEvent,
    });
  } catch (thrown) {
    const reason: unknown = ended.signal.reason;
    error = reason instanceof ApiError ? reason : asApiError(thrown);
  } finally {
    silence?.cancel();
    signal.removeEventListener("abort", abort);
    if (openedAt !== undefined) observer.watchEnded();
  }
  return { error, inBand: inBandError !== undefined && error === inBandError, openedAt, received };
};

const isKubeObject = (object: unknown): object is KubeObject =>
  typeof object === "object" &&
  object !== null &&
  "metadata" in object &&
  typeof object.metadata === "object" &&
  object.metadata !== null;

const silenceError = (plural: string, inactivityMs: number): ApiError =>
  new ApiError({ kind: "timeout", message: `watch of ${plural}: nothing heard for ${inactivityMs} ms` });

const errorOfInBandStatus = (object: unknown, plural: string): ApiError => {
  const status = object as Status;
  return errorOfStatus(status.code ?? 500, { ...status, kind: "Status" }, `watch of ${plural}`);
};

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError({
        kind: "malformed",
        message: error instanceof Error ? error.message : String(error),
        cause: error,
      });
