/** The daemon: wires the parts together and runs them until it is told to stop. */
import { randomBytes, randomUUID } from "node:crypto";
import { pino, stdTimeFunctions } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { createEngineClient, podAddress } from "./contract/index.ts";
import { healthPages, metricsPages, serve } from "./health/index.ts";
import {
  createElector,
  createEventRecorder,
  createKubeClient,
  createKubeMetrics,
  loadClusterAccess,
  systemClock,
} from "./kube/index.ts";
import { createRoleMetrics } from "./metrics/index.ts";
import { watchEngines } from "./observe/index.ts";
import { createRoleLane } from "./role/index.ts";
import { readSettings, type Settings } from "./settings.ts";
import { createShapeLane, followEngines, readProgramVersion } from "./shape/index.ts";
import { readEngine } from "./tradingEngine/index.ts";

const component = "enginekeeper.dev/reconciler";
const userAgent = "enginekeeper/0.1.0";
/** Lease of the replica that acts, and how fast another takes over when it is gone. */
const leadership = { name: "enginekeeper", durationMs: 4_000, renewDeadlineMs: 3_000, retryMs: 1_000 } as const;
/** To write the last Events. */
const farewellMs = 2_000;

async function run(settings: Settings, stop: AbortSignal): Promise<"stopped" | "lost"> {
  const logger = pino({
    level: settings.logLevel,
    base: { identity: settings.identity },
    timestamp: stdTimeFunctions.isoTime,
  });
  const clock = systemClock;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const kubeMetrics = createKubeMetrics(registry);
  const { kubeconfig, namespaces } = settings;
  const access = await loadClusterAccess({ ...(kubeconfig === undefined ? {} : { kubeconfig }) });
  const client = createKubeClient({ access, userAgent, metrics: kubeMetrics });
  const elector = createElector({
    ...leadership,
    client,
    lease: { namespace: settings.ownNamespace, name: leadership.name },
    identity: settings.identity,
    logger,
    metrics: kubeMetrics,
  });
  const fenced = client.withFence(elector.fence());
  const events = createEventRecorder({ client, component, instance: settings.identity, logger });
  const engines = createEngineClient();

  const role = createRoleLane({
    client: fenced,
    engines,
    addressOf: podAddress,
    events,
    metrics: createRoleMetrics(registry),
    logger,
    clock,
    newId: randomUUID,
    shapeOf: (key) => shape.lastResult(key),
    openWatch: (onChange) => watchEngines({ client, namespaces, logger, metrics: kubeMetrics, onChange }),
  });
  const shape = createShapeLane({
    client: fenced,
    namespaces,
    engineOf: (key) => {
      const object = role.watch.engine(key);
      const engine = object && readEngine(object);
      return engine?.ok === true ? engine.value : undefined;
    },
    events,
    clock,
    random: randomBytes,
    logger: logger.child({ lane: "shape" }),
    env: process.env,
    metrics: kubeMetrics,
    config: {
      operatorNamespace: settings.ownNamespace,
      programVersion: await readProgramVersion(),
      pluginsFolder: settings.pluginsFolder,
      scratch: settings.scratch,
      concurrency: settings.upConcurrency,
      upDeadlineMs: settings.upDeadlineMs,
      ...(settings.pulumiFolder === undefined ? {} : { pulumiFolder: settings.pulumiFolder }),
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
    },
  });
  shape.onResult((key) => role.wake(key));

  const health = await serve(settings.healthPort, healthPages({ isReady: () => role.watch.hasSynced() }));
  const metrics = await serve(settings.metricsPort, metricsPages(registry));
  logger.info({ namespaces, health: health.port, metrics: metrics.port }, "started");
  // The lanes end only after leadership was given up in order.
  const observing = new AbortController();
  const observed = role.run(observing.signal);
  try {
    await Promise.race([role.watch.whenSynced(stop), observed]);
    const ended = await elector.run(stop, {
      onStartedLeading: async (signal) => {
        logger.info("leading");
        const unfollow = followEngines({ onChange: (handler) => role.watch.onEngineChange(handler) }, (key, reason) =>
          shape.request(key, reason),
        );
        await Promise.all([role.lead(signal), shape.run(signal)]).finally(unfollow);
      },
    });
    logger.info({ ended }, "ending");
    return ended;
  } finally {
    observing.abort();
    await observed.catch((error: unknown) => logger.warn({ err: error }, "the role lane ended with an error"));
    await events.stop(AbortSignal.timeout(farewellMs));
    await Promise.all([health.close(), metrics.close(), engines.close()]);
    await client.close();
  }
}

const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());
try {
  const ended = await run(readSettings(process.env, process.pid), stop.signal);
  // One that lost the lease starts over as a new process: nothing of its view is worth keeping.
  process.exitCode = ended === "lost" ? 1 : 0;
} catch (error) {
  process.stderr.write(`enginekeeper: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = stop.signal.aborted ? 0 : 1;
}
