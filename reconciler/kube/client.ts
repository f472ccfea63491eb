/** The {@link KubeClient} over a transport: paths, bodies, retries, and the fence in front of writes. */
import type { ClusterAccess } from "./access.ts";
import { type Clock, systemClock } from "./clock.ts";
import { ApiError } from "./errors.ts";
import { refusalBy, type WriteFence } from "./fence.ts";
import type { CallOptions, KubeClient, ListOptions, RawRequest, RawResponse, WatchEvent } from "./kubeClient.ts";
import type { Draft, KubeObject, ListMeta, ObjectRef } from "./kubeObject.ts";
import { createLineSplitter } from "./lineSplitter.ts";
import { createListParser, type ListParser } from "./listParser.ts";
import { dropManagedFields } from "./managedFields.ts";
import type { KubeMetrics } from "./metrics.ts";
import { apiVersionOf, collectionPath, objectPath, type Resource } from "./resource.ts";
import { withRetries } from "./retry.ts";
import { createTransport, type Exchange, type ResponseHead, type ResponseSink, type Transport } from "./transport.ts";

export interface KubeClientOptions {
  readonly access: ClusterAccess;
  /** Product and version, e.g. `enginekeeper/0.1.0`. */
  readonly userAgent: string;
  readonly clock?: Clock;
  readonly metrics?: KubeMetrics;
}

export const createKubeClient = (options: KubeClientOptions): KubeClient => {
  const clock = options.clock ?? systemClock;
  const { metrics } = options;
  const host = new URL(options.access.server).host;
  const transport = createTransport({
    access: options.access,
    userAgent: options.userAgent,
    clock,
    metrics: metrics?.requests,
  });
  const onRetry = (method: string, error: ApiError) =>
    metrics?.requests.retried({ method, host, code: error.code === 0 ? "<error>" : String(error.code) });
  return clientOver({ transport, clock, onRetry, fence: undefined });
};

const defaultTimeoutMs = 10_000;
const defaultPageSize = 500;

interface ClientParts {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly onRetry: (method: string, error: ApiError) => void;
  readonly fence: WriteFence | undefined;
}

const clientOver = (parts: ClientParts): KubeClient => {
  const { transport, fence } = parts;

  const exchange = async (request: RawRequest, newSink: () => ResponseSink): Promise<void> => {
    const options = {
      clock: parts.clock,
      method: request.method,
      timeoutMs: request.timeoutMs ?? defaultTimeoutMs,
      signal: request.signal,
      onRetry: (error: ApiError) => parts.onRetry(request.method, error),
    };
    const guard = request.method === "GET" ? undefined : fence;
    await withRetries(options, async (timeoutMs) => {
      const refusal = guard === undefined ? undefined : refusalBy(guard);
      if (refusal !== undefined) throw refusal;
      await transport.exchange(exchangeOf(request, timeoutMs, guard), newSink());
    });
  };

  const raw = async (request: RawRequest): Promise<RawResponse> => {
    let head: ResponseHead = { code: 0, headers: {} };
    let chunks: Buffer[] = [];
    await exchange(request, () => {
      chunks = [];
      return { onHead: (first) => void (head = first), onData: (chunk) => void chunks.push(chunk) };
    });
    return { ...head, body: Buffer.concat(chunks).toString("utf8") };
  };

  const call = async <T extends KubeObject>(request: RawRequest): Promise<T> => {
    const { body } = await raw(request);
    // The API server vouches for the shape: it is the resource's own schema.
    return parseJson(body, `${request.method} ${request.path}`) as T;
  };

  const listPage = async <T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions,
    query: Query,
    onObject: (object: T) => void,
  ): Promise<ListMeta> => {
    const apiVersion = apiVersionOf(resource);
    const cutManagedFields = options.withoutManagedFields === true;
    const path = collectionPath(resource, options.namespace) + queryOf(query);
    let delivered = 0;
    let parser = createListParser(() => undefined);
    await exchange({ ...callOf(options), method: "GET", path }, () => {
      if (delivered > 0) throw new ApiError({ kind: "unreachable", message: `GET ${path}: cut off inside the list` });
      const onItem = (item: unknown) => {
        delivered++;
        // Items of a list of built-in kinds do not name their kind.
        const object = Object.assign({ apiVersion, kind: resource.kind }, item as T);
        onObject(cutManagedFields ? dropManagedFields(object) : object);
      };
      parser = createListParser(onItem, { cutManagedFields });
      return { onData: (chunk) => parser.push(chunk) };
    });
    const list = endOf(parser, path) as { readonly metadata: ListMeta };
    return list.metadata;
  };

  const listEach: KubeClient["listEach"] = async (resource, options, onObject) => {
    const query = {
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: String(options.pageSize ?? defaultPageSize),
    };
    const { resourceVersion } = options;
    // Without a match, a paged list of a version is of exactly that one: after a restart of the API server it would be
    // served from etcd for ever, while every watch from it is refused as too old.
    const match = resourceVersion === undefined ? undefined : "NotOlderThan";
    const first = { ...query, resourceVersion, resourceVersionMatch: match };
    let meta = await listPage(resource, options, first, onObject);
    // The token alone says of which version the next page is.
    while (meta.continue !== undefined && meta.continue !== "") {
      meta = await listPage(resource, options, { ...query, continue: meta.continue }, onObject);
    }
    return meta;
  };

  return {
    get: (resource, ref, options = {}) => call({ ...callOf(options), method: "GET", path: objectPath(resource, ref) }),

    async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
      const items: T[] = [];
      const metadata = await listEach(resource, options, (object) => void items.push(object));
      return { metadata, items };
    },

    listEach,

    async watch(resource, options) {
      const query = queryOf({
        watch: "true",
        allowWatchBookmarks: "true",
        resourceVersion: options.resourceVersion,
        timeoutSeconds: String(options.timeoutSeconds),
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
      });
      const path = collectionPath(resource, options.namespace) + query;
      const push = createLineSplitter((line) => options.onEvent(parseJson(line, `watch ${path}`) as WatchEvent));
      await transport.exchange(
        {
          method: "GET",
          path,
          lane: "watch",
          signal: options.signal,
          timeoutMs: options.headersTimeoutMs,
          untilHeaders: true,
        },
        { onHead: options.onOpen, onData: push },
      );
    },

    create: (resource, object, options = {}) =>
      call({
        ...callOf(options),
        method: "POST",
        path: collectionPath(resource, object.metadata.namespace) + queryOf({ fieldManager: options.manager }),
        ...jsonBody(withType(resource, object)),
      }),

    update: (resource, object, options = {}) =>
      call({
        ...callOf(options),
        method: "PUT",
        path: objectPath(resource, refOf(object), options.subresource) + queryOf({ fieldManager: options.manager }),
        ...jsonBody(withType(resource, object)),
      }),

    apply(resource, object, options) {
      const query = queryOf({
        fieldManager: options.manager,
        force: options.force === true ? "true" : undefined,
        dryRun: options.dryRun === true ? "All" : undefined,
      });
      return call({
        ...callOf(options),
        method: "PATCH",
        path: objectPath(resource, refOf(object), options.subresource) + query,
        ...jsonBody(withType(resource, object), "application/apply-patch+yaml"),
      });
    },

    patch: (resource, ref, body, options) =>
      call({
        ...callOf(options),
        method: "PATCH",
        path: objectPath(resource, ref, options.subresource) + queryOf({ fieldManager: options.manager }),
        ...jsonBody(body, patchTypes[options.type]),
      }),

    async delete(resource, ref, options = {}) {
      const { uid, resourceVersion, gracePeriodSeconds, propagationPolicy } = options;
      await raw({
        ...callOf(options),
        method: "DELETE",
        path: objectPath(resource, ref),
        ...jsonBody({
          apiVersion: "v1",
          kind: "DeleteOptions",
          gracePeriodSeconds,
          propagationPolicy,
          ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
        }),
      });
    },

    raw,

    withFence: (next) => clientOver({ ...parts, fence: next }),

    close: () => transport.close(),
  };
};

const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

/** A fenced write is given up when its permission ends: the time between that and the lease's own end is its last chance to settle. */
const exchangeOf = (request: RawRequest, timeoutMs: number, fence: WriteFence | undefined): Exchange => ({
  method: request.method,
  path: request.path,
  lane: request.lane ?? "default",
  timeoutMs: fence === undefined ? timeoutMs : Math.min(timeoutMs, fence.remainingMs()),
  ...(request.body === undefined ? {} : { body: request.body }),
  ...(request.contentType === undefined ? {} : { contentType: request.contentType }),
  ...(request.signal === undefined ? {} : { signal: request.signal }),
  ...(fence === undefined ? {} : { guard: () => refusalBy(fence) }),
});

/** Only the options of the call itself, from among those of an operation. */
const callOf = ({ timeoutMs, signal, lane }: CallOptions): CallOptions => ({
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
  ...(signal === undefined ? {} : { signal }),
  ...(lane === undefined ? {} : { lane }),
});

type Query = Readonly<Record<string, string | undefined>>;

const queryOf = (query: Query): string => {
  const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return set.length === 0 ? "" : `?${new URLSearchParams(set).toString()}`;
};

const withType = <T extends KubeObject>(resource: Resource<T>, object: Draft<T>): object =>
  Object.assign({}, object, { apiVersion: apiVersionOf(resource), kind: resource.kind });

const refOf = ({ metadata }: { readonly metadata: ObjectRef }): ObjectRef => ({
  name: metadata.name,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
});

const jsonBody = (value: unknown, contentType = "application/json") => ({ body: JSON.stringify(value), contentType });

const parseJson = (text: string, call: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError({ kind: "malformed", message: `${call}: the answer is not JSON`, cause: error });
  }
};

const endOf = (parser: ListParser, path: string): unknown => {
  try {
    return parser.end();
  } catch (error) {
    throw new ApiError({ kind: "malformed", message: `GET ${path}: the list is not JSON`, cause: error });
  }
};
