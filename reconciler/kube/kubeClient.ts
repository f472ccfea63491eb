/** What can be asked of the API server; `client.ts` does it. */
import type { WriteFence } from "./fence.ts";
import type { Draft, KubeList, KubeObject, ListMeta, ObjectRef } from "./kubeObject.ts";
import type { Resource } from "./resource.ts";
import type { ResponseHead } from "./transport.ts";

/** For each single call. */
export interface CallOptions {
  /** Deadline of the whole call, retries included. Default 10 s; a list has it for each page. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** `lease` for calls that must not queue behind any others. */
  readonly lane?: "default" | "lease";
}

export interface ListOptions extends CallOptions {
  /** Left out: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Objects in a page. Default 500. */
  readonly pageSize?: number;
  /** "0" = whatever the API server has cached; left out = the newest. */
  readonly resourceVersion?: string;
  /** Drops metadata.managedFields of each object, mostly before it is even parsed: halves the time of a large list. */
  readonly withoutManagedFields?: boolean;
}

export interface ApplyOptions extends CallOptions {
  /** Field manager: owns the fields that the object names. */
  readonly manager: string;
  /** Takes fields over from other managers, instead of failing with a conflict that names them. */
  readonly force?: boolean;
  readonly subresource?: string;
  readonly dryRun?: boolean;
}

export interface PatchOptions extends CallOptions {
  readonly type: "merge" | "json" | "strategic";
  readonly subresource?: string;
  readonly manager?: string;
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: string;
  readonly manager?: string;
}

export interface DeleteOptions extends CallOptions {
  /** Deletes only the object with this uid: never one that was created since under the same name. */
  readonly uid?: string;
  /** Deletes only this version. */
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
}

/** A call that none of the others covers. */
export interface RawRequest extends CallOptions {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query under the server's base URL. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
}

export interface RawResponse extends ResponseHead {
  readonly body: string;
}

/** One line of a watch. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: unknown;
}

export interface WatchOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion: string;
  /** After which the server ends the watch. */
  readonly timeoutSeconds: number;
  /** For the answer to begin; the caller bounds silence afterwards by `signal`. */
  readonly headersTimeoutMs: number;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  /** What it throws ends the watch with an error. */
  readonly onEvent: (event: WatchEvent) => void;
}

/**
 * All calls throw an ApiError and nothing else. After `timeout` or `unreachable` it is unknown whether a write took
 * effect. Answers 429 and 5xx with Retry-After are tried again within the deadline, reads also after a lost connection.
 */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  /** All objects, read page by page. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** As {@link list}, but hands each object over while the rest is still on its way, and keeps none. */
  listEach<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions,
    onObject: (object: T) => void,
  ): Promise<ListMeta>;
  /** Resolves when the server ends the watch. No retry: that is the informer's business. */
  watch(resource: Resource<KubeObject>, options: WatchOptions): Promise<void>;
  create<T extends KubeObject>(resource: Resource<T>, object: Draft<T>, options?: WriteOptions): Promise<T>;
  /** Replaces the whole object; with metadata.resourceVersion set only if that is still its version (else `conflict`). */
  update<T extends KubeObject>(resource: Resource<T>, object: Draft<T>, options?: WriteOptions): Promise<T>;
  /** Server-side apply. */
  apply<T extends KubeObject>(resource: Resource<T>, object: Draft<T>, options: ApplyOptions): Promise<T>;
  patch<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, body: unknown, options: PatchOptions): Promise<T>;
  delete(resource: Resource<KubeObject>, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
  raw(request: RawRequest): Promise<RawResponse>;
  /** The same client with a fence in front of all writes: they fail with `fenced`, unsent, once it is closed. */
  withFence(fence: WriteFence): KubeClient;
  /** Cuts all connections, also those of clients made by {@link withFence}. */
  close(): Promise<void>;
}
