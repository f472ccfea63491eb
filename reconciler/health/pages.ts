import type { Registry } from "prom-client";
import type { Routes } from "./httpServer.ts";

/** What the kubelet asks. */
export interface HealthSources {
  /** The local copies of the cluster are complete: this replica could act. One that waits for leadership is ready too. */
  readonly isReady: () => boolean;
}

/** That an answer comes at all proves that the event loop turns; nothing beyond the process may fail its liveness. */
export const healthPages = ({ isReady }: HealthSources): Routes => ({
  "/healthz": () => ({ status: 200, body: "ok\n" }),
  "/readyz": () =>
    isReady() ? { status: 200, body: "ok\n" } : { status: 503, body: "the local copies are not complete yet\n" },
});

export const metricsPages = (registry: Registry): Routes => ({
  "/metrics": async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() }),
});
