/** What the scenarios of an informer's faults need of an API server, be it the fake one or a real one behind a proxy. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Change, createInformer, type InformerOptions } from "../../reconciler/kube/informer.ts";
import type { KubeClient } from "../../reconciler/kube/kubeClient.ts";
import { type ConfigMap, configMaps } from "../../reconciler/kube/resource.ts";
import type { FaultyServer } from "../fakeApiServer/faultyServer.ts";
import { until } from "../fakeApiServer/until.ts";
import type { VirtualClock } from "../fakeApiServer/virtualClock.ts";

export interface FaultyCluster {
  /** Between the client and the objects. */
  readonly server: Pick<
    FaultyServer,
    "requests" | "watches" | "connections" | "fail" | "clearFaults" | "goDown" | "comeUp"
  >;
  /** Goes through `server`; its deadlines and waits follow `clock`. */
  readonly client: KubeClient;
  readonly clock: VirtualClock;
  /** Aborts when the test ends. */
  readonly signal: AbortSignal;
  /** Empty at the start, and nobody else's. */
  readonly namespace: string;
  /** Writes a ConfigMap past all faults; a list that is made after it sees it. */
  readonly put: (name: string, step?: number) => Promise<void>;
  /** Removes one in the same way. */
  readonly remove: (name: string) => Promise<void>;
}

/** Starts one and ends it with the test. */
export type StartFaultyCluster = (test: TestContext) => Promise<FaultyCluster>;

/** A cluster that holds one ConfigMap, `first`, and an informer on its ConfigMaps. */
export const setUpInformer = async (
  test: TestContext,
  startCluster: StartFaultyCluster,
  options: Partial<InformerOptions<ConfigMap>> = {},
) => {
  const cluster = await startCluster(test);
  const { client, clock, namespace, server, signal } = cluster;
  await cluster.put("first");
  const informer = createInformer({ client, resource: configMaps, namespace, clock, random: () => 0, ...options });
  const changes: string[] = [];
  informer.onChange((change: Change<ConfigMap>) => void changes.push(`${change.type} ${change.object.metadata.name}`));
  return {
    ...cluster,
    informer,
    changes,
    /** Starts the informer, and waits until it has synced and watches. */
    start: async () => {
      informer.start(signal);
      await until("the first watch", () => informer.hasSynced() && server.watches.length === 1);
    },
    has: (name: string) => () => informer.store.get(namespace, name) !== undefined,
    step: (name: string) => informer.store.get(namespace, name)?.data?.["step"],
    lists: () => server.requests.filter((request) => !request.watch).length,
    watches: () => server.requests.filter((request) => request.watch).length,
    lastWatch: () => server.watches.at(-1) ?? assert.fail("no watch"),
  };
};
