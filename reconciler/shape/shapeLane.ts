/** The shape lane: keeps what engines are made of as their specs want it, by `pulumi up` in worker processes. */
import { join } from "node:path";
import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import {
  type Clock,
  createWorkqueue,
  type EventRecorder,
  type KubeClient,
  type KubeMetrics,
  type ReconcileContext,
  type ReconcileOutcome,
  runWorkers,
  TerminalError,
} from "../kube/index.ts";
import { watchChildren } from "./childWatch.ts";
import type { RandomBytes } from "./controlToken.ts";
import { type ConvergeContext, convergeShape } from "./convergeShape.ts";
import { prepareScratch, scratchFolder } from "./scratchFolder.ts";
import { createShapeEvents } from "./shapeEvents.ts";
import { createShapeMemory } from "./shapeMemory.ts";
import { moreUrgent, priorityOf } from "./shapePriority.ts";
import type { EngineKey, ShapeReason, ShapeResult } from "./shapeResult.ts";
import { createStateStore } from "./stateStore.ts";
import { tearDown } from "./teardown.ts";
import type { ProgramContext } from "./wantedShape.ts";
import { createWorkerPool } from "./worker/workerPool.ts";
import { startWorker } from "./worker/workerProcess.ts";
import { workerEnvironment } from "./workerEnvironment.ts";

/** The part of a pino logger that the lane uses. */
export interface ShapeLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ShapeLaneConfig extends ProgramContext {
  /** Folder that holds the Pulumi CLI; without it the CLI is looked for on PATH. */
  readonly pulumiFolder?: string;
  /** Folder that holds `resource-kubernetes-vX.Y.Z/pulumi-resource-kubernetes`, as in PULUMI_HOME. */
  readonly pluginsFolder: string;
  /** Kubeconfig of the cluster; without it the one that the environment or the Pod names. */
  readonly kubeconfig?: string;
  /** A folder of this process alone, for the files of runs and the home of the CLI; what is in it is lost. */
  readonly scratch: string;
  /** Runs at a time. Each takes about one CPU while it lasts. */
  readonly concurrency: number;
  /** Time for one `up`, in milliseconds. */
  readonly upDeadlineMs: number;
}

export interface ShapeLaneOptions {
  readonly client: KubeClient;
  /** Namespaces whose engines are looked after. */
  readonly namespaces: readonly string[];
  /** The TradingEngine of this key, from a local copy; `undefined` when there is none or it makes no sense. */
  readonly engineOf: (key: EngineKey) => TradingEngine | undefined;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly logger: ShapeLogger;
  /** Environment of the process; workers inherit it. It must name the passphrase of the stacks' state. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly metrics?: KubeMetrics;
  readonly config: ShapeLaneConfig;
}

export interface ShapeLane {
  /** Works until `signal` aborts, and ends all its processes then. To be called once. */
  run(signal: AbortSignal): Promise<void>;
  /** Has the engine looked at; `up` is run only when that finds a reason, or for Requested. */
  readonly request: (key: EngineKey, reason: ShapeReason) => void;
  /** How the engine's last run ended; `undefined` before the first look at it. */
  lastResult(key: EngineKey): ShapeResult | undefined;
  /** Calls `listener` for each new result. Returns the way to end it. */
  onResult(listener: (key: EngineKey, result: ShapeResult) => void): () => void;
}

/** Time between the deadline of a run and its end by force. */
const graceMs = 10_000;
/** On top of the run: reads and writes around it, each with a deadline of its own. */
const aroundRunMs = 60_000;
const teardownPollMs = 1_000;
const runsPerWorker = 100;
const heapMegabytes = 512;
const workerModule = join(import.meta.dirname, "worker", "main.ts");
const firstRetryMs = 1_000;
const mostRetryMs = 300_000;

/** Throws when the environment names no passphrase. */
export const createShapeLane = (options: ShapeLaneOptions): ShapeLane => {
  const { client, clock, config, engineOf, logger } = options;
  const events = createShapeEvents(options.events);
  const memory = createShapeMemory();
  const reasons = new Map<EngineKey, ShapeReason>();
  const listeners = new Set<(key: EngineKey, result: ShapeResult) => void>();
  const metrics = options.metrics === undefined ? {} : { metrics: options.metrics };
  const queue = createWorkqueue<EngineKey>({ name: "shape", clock, firstRetryMs, mostRetryMs, ...metrics });

  const request = (key: EngineKey, reason: ShapeReason): void => {
    reasons.set(key, moreUrgent(reasons.get(key), reason));
    queue.add(key, { priority: priorityOf(reason) });
  };
  const children = watchChildren({
    client,
    namespaces: options.namespaces,
    clock,
    logger,
    ...metrics,
    onChange: (key) => request(key, "Drift"),
  });
  const workerEnv = workerEnvironment(options.env, config);
  const pool = createWorkerPool({
    start: () => startWorker({ module: workerModule, env: workerEnv, heapMegabytes }),
    clock,
    scratch: scratchFolder(config.scratch).runs,
    deadlineMs: config.upDeadlineMs,
    graceMs,
    runsPerWorker,
  });
  const context: ConvergeContext = {
    client,
    store: createStateStore(client),
    pool,
    events,
    clock,
    random: options.random,
    children,
    memory,
    program: config,
  };

  const publish = (key: EngineKey, result: ShapeResult): void => {
    if (!memory.keepResult(key, result)) return;
    for (const listener of listeners) listener(key, result);
  };

  const takeDown = async (key: EngineKey, engine: TradingEngine): Promise<ReconcileOutcome | undefined> => {
    const progress = await tearDown(client, engine, clock.wall()).catch((error: unknown) => {
      events.deletionBlocked(engine, error instanceof Error ? error.message : String(error));
      throw error;
    });
    if (progress.kind === "waiting") {
      if (progress.overdue) {
        events.deletionBlocked(engine, `replicas outlived deletionPolicy.deadlineSeconds: ${progress.pods.join(", ")}`);
      }
      return { requeueAfterMs: teardownPollMs };
    }
    memory.forget(key);
    return undefined;
  };

  const reconcile = async (key: EngineKey, run: ReconcileContext): Promise<ReconcileOutcome | undefined> => {
    const reason = reasons.get(key) ?? "Resync";
    reasons.delete(key);
    const engine = engineOf(key);
    if (engine === undefined) {
      memory.forget(key);
      return undefined;
    }
    try {
      if (engine.metadata.deletionTimestamp !== undefined) return await takeDown(key, engine);
      const result = await convergeShape(context, engine, reason, run.signal);
      if (result === undefined) return undefined;
      publish(key, result);
      throwUnlessSucceeded(result);
      return undefined;
    } catch (error) {
      // The next try is for the same reason.
      reasons.set(key, moreUrgent(reasons.get(key), reason));
      throw error;
    }
  };

  return {
    request,
    lastResult: (key) => memory.result(key),
    onResult: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    run: async (signal) => {
      try {
        await prepareScratch(config.scratch, config.pluginsFolder);
        pool.warmUp();
        children.start(signal);
        await children.whenSynced(signal);
        await runWorkers(queue, reconcile, {
          name: "shape",
          logger,
          signal,
          concurrency: config.concurrency,
          deadlineMs: config.upDeadlineMs + graceMs + aroundRunMs,
          clock,
          ...metrics,
        });
      } finally {
        pool.close();
      }
    },
  };
};

/** A run that was refused is refused again until somebody changes the spec; any other may succeed the next time. */
const throwUnlessSucceeded = ({ result, message = `the update ${result}` }: ShapeResult): void => {
  switch (result) {
    case "succeeded":
      return;
    case "refused":
      throw new TerminalError(message);
    case "failed":
    case "timedOut":
      throw new Error(message);
  }
};
