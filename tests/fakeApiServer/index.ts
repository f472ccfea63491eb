/** The fake API server and what tests with it need. */
export { type FakeApiServer, type SeenRequest, startFakeApiServer } from "./fakeApiServer.ts";
export type { NewObject, StoredObject } from "./fakeStore.ts";
export type { FakeWatch } from "./fakeWatch.ts";
export type { Fault, FaultMatch } from "./fault.ts";
export { collections, type FakeCluster, podNamed, startFakeCluster } from "./fixture.ts";
export { until } from "./until.ts";
export { createVirtualClock, type VirtualClock } from "./virtualClock.ts";
