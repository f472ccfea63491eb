/**
 * What client-go and controller-runtime give to operators in Go, for Node: a transport with deadlines, typed errors,
 * informers, workqueue and workers, leader election with a write fence, events, and metrics under the usual names.
 */
export {
  type AccessOptions,
  type ClusterAccess,
  type Credentials,
  loadClusterAccess,
  type TlsMaterial,
} from "./access.ts";
export { createKubeClient, type KubeClientOptions } from "./client.ts";
export { type Clock, sleep, systemClock, type Timer } from "./clock.ts";
export {
  type Reconcile,
  type ReconcileContext,
  type ReconcileOutcome,
  runWorkers,
  TerminalError,
  type WorkersOptions,
} from "./controller.ts";
export { createElector, type Elector, type ElectorCallbacks, type ElectorOptions } from "./elector.ts";
export {
  ApiError,
  type ApiErrorFields,
  type ApiErrorKind,
  isAborted,
  isAlreadyExists,
  isConflict,
  isExpired,
  isFenced,
  isForbidden,
  isInvalid,
  isNotFound,
  isTimeout,
  isTooManyRequests,
  isUnreachable,
  type Status,
  type StatusDetails,
} from "./errors.ts";
export { createEventRecorder, type EventInput, type EventRecorder, type EventRecorderOptions } from "./events.ts";
export { type ExecOptions, type ExecResult, execInPod } from "./exec.ts";
export { createExpectations, type Expectations } from "./expectations.ts";
export type { WriteFence } from "./fence.ts";
export {
  type Change,
  createInformer,
  type Informer,
  type InformerOptions,
} from "./informer.ts";
export type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  PatchOptions,
  RawRequest,
  RawResponse,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./kubeClient.ts";
export {
  type Draft,
  type DraftMeta,
  type Json,
  type KubeList,
  type KubeObject,
  keyOf,
  type ListMeta,
  type ManagedFields,
  type NamespacedObject,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  objectKey,
  refOfKey,
} from "./kubeObject.ts";
export { type KubeLogger, silentLogger } from "./logger.ts";
export { createKubeMetrics, type KubeMetrics } from "./metrics.ts";
export { microTime } from "./microTime.ts";
export * from "./resource.ts";
export type { Indexers, Store } from "./store.ts";
export { createWorkqueue, type Workqueue, type WorkqueueOptions } from "./workqueue.ts";
