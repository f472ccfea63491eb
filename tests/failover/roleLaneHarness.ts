/** The role lane as the daemon wires it, against the fake API server. */
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { Registry } from "prom-client";
import { testCluster } from "../../engine/testing/engineClient.ts";
import { createEngineClient } from "../../reconciler/contract/index.ts";
import {
  createEventRecorder,
  createKubeClient,
  createKubeMetrics,
  silentLogger,
  systemClock,
} from "../../reconciler/kube/index.ts";
import { createRoleMetrics } from "../../reconciler/metrics/index.ts";
import { watchEngines } from "../../reconciler/observe/index.ts";
import { createRoleLane, type RoleLogger } from "../../reconciler/role/index.ts";
import type { FakeApiServer } from "../fakeApiServer/index.ts";
import type { LocalPods } from "./localPods.ts";

const [namespace = ""] = testCluster.split("/");

export interface RunningLane {
  /** Ends the lane as a killed process would leave it: at whatever point it is. */
  stop(): Promise<void>;
}

const quiet: RoleLogger = { info: () => undefined, warn: () => undefined, child: () => quiet };

/** Starts a leading role lane; it ends with the test. */
export function startRoleLane(test: TestContext, api: FakeApiServer, pods: LocalPods): RunningLane {
  const registry = new Registry();
  const kubeMetrics = createKubeMetrics(registry);
  const client = createKubeClient({ access: api.access, userAgent: "role-lane-test", metrics: kubeMetrics });
  const engines = createEngineClient();
  const events = createEventRecorder({ client, component: "test", instance: "test" });
  const lane = createRoleLane({
    client,
    engines,
    addressOf: pods.addressOf,
    events,
    metrics: createRoleMetrics(registry),
    logger: quiet,
    clock: systemClock,
    newId: randomUUID,
    shapeOf: () => undefined,
    openWatch: (onChange) =>
      watchEngines({ client, namespaces: [namespace], logger: silentLogger, metrics: kubeMetrics, onChange }),
  });
  const stopping = new AbortController();
  const running = lane.run(stopping.signal);
  const leading = lane.lead(stopping.signal);
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all([running, leading]);
    await events.stop();
    await engines.close();
    await client.close();
  };
  const stopOnce = (): Promise<void> => (stopped ??= stop());
  test.after(stopOnce);
  return { stop: stopOnce };
}
