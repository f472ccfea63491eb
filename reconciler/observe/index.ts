export { type EngineWatch, type EngineWatchOptions, watchEngines } from "./engineWatch.ts";
export { type LeaseContent, leaseObject, readLease } from "./leaseCodec.ts";
export { EngineObserver, type ObserverOptions, type OwnKnowledge } from "./observer.ts";
export type {
  CommitRule,
  ContainerState,
  EngineKey,
  EngineSnapshot,
  LastExit,
  LeaseView,
  PendingVolume,
  PodView,
  ReplicaView,
  ShapeView,
} from "./snapshot.ts";
