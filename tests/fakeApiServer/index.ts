/** The fake API server and what tests with it need. */
export { type FakeApiServer, startFakeApiServer } from "./fakeApiServer.ts";
export type { NewObject, StoredObject } from "./fakeStore.ts";
export type { Fault, FaultMatch } from "./fault.ts";
export type { SeenRequest } from "./faultyServer.ts";
export { collections, type FakeCluster, podNamed, startFakeCluster } from "./fixture.ts";
export { until } from "./until.ts";
export { createVirtualClock, type VirtualClock } from "./virtualClock.ts";
export type { WatchStream } from "./watchStream.ts";
