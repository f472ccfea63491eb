/** The role lane: a loop for each engine, alive on every replica of the reconciler, acting only on the leader. */
import { createEngineCalls, createKubeRoleWrites } from "../act/index.ts";
import type { AddressOf, EngineClient } from "../contract/index.ts";
import { type Clock, type EventRecorder, type KubeClient, sleep } from "../kube/index.ts";
import type { EngineGauges, RoleMetrics } from "../metrics/index.ts";
import { EngineObserver, type EngineWatch, type ShapeView } from "../observe/index.ts";
import { StatusWriter } from "../status/index.ts";
import { EngineLoop, type LoopLogger } from "./engineLoop.ts";

export interface RoleLogger extends LoopLogger {
  child(bindings: object): RoleLogger;
}

export interface RoleLaneOptions {
  /** Carries the leader's fence: every write of a replica that may not lead any more is refused. */
  readonly client: KubeClient;
  readonly engines: EngineClient;
  readonly addressOf: AddressOf;
  readonly events: EventRecorder;
  readonly metrics: RoleMetrics;
  readonly logger: RoleLogger;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly shapeOf: (key: string) => ShapeView | undefined;
  /** Opens the local copies; `onChange` is told the key of each engine that changed. */
  readonly openWatch: (onChange: (key: string) => void) => EngineWatch;
}

export interface RoleLane {
  readonly watch: EngineWatch;
  /** Keeps the view of all engines warm until `signal` aborts. To be called once. */
  run(signal: AbortSignal): Promise<void>;
  /** Acts until `signal` aborts; resolves once nothing is under way. */
  lead(signal: AbortSignal): Promise<void>;
  /** Something that no informer shows has changed, such as a result of the shape lane. */
  wake(key: string): void;
}

interface RunningLoop {
  readonly loop: EngineLoop;
  readonly observer: EngineObserver;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export function createRoleLane(options: RoleLaneOptions): RoleLane {
  const { clock, metrics } = options;
  const now = () => clock.now();
  const loops = new Map<string, RunningLoop>();
  let leading: AbortSignal | undefined;
  let running: AbortSignal | undefined;
  const isLeading = (): boolean => leading?.aborted === false;

  const start = (key: string): RunningLoop => {
    const observer = new EngineObserver(key, {
      client: options.client,
      watch,
      addressOf: options.addressOf,
      now,
      onChange: wake,
    });
    const logger = options.logger.child({ engine: key });
    const loop = buildLoop(options, observer, logger, isLeading, wake);
    const stop = new AbortController();
    const ended = loop.run(stop.signal).finally(() => observer.close());
    return { loop, observer, stop, ended };
  };

  const wake = (key: string): void => {
    if (running?.aborted !== false) return;
    const known = loops.get(key);
    if (watch.engine(key) === undefined) {
      known?.stop.abort();
      loops.delete(key);
    } else if (known === undefined) loops.set(key, start(key));
    else known.loop.wake();
  };

  const watch = options.openWatch(wake);
  metrics.onScrape(() => [...loops.values()].map(gaugesOf));

  return {
    watch,
    wake,
    async run(signal) {
      watch.start(signal);
      await watch.whenSynced(signal);
      running = signal;
      watch.keys().forEach(wake);
      await aborted(signal);
      const stopped = [...loops.values()];
      for (const { stop } of stopped) stop.abort();
      loops.clear();
      await Promise.all(stopped.map(({ ended }) => ended));
    },
    async lead(signal) {
      for (const { loop } of loops.values()) loop.forgetActs();
      leading = signal;
      for (const { loop } of loops.values()) loop.wake();
      await aborted(signal);
      await Promise.all([...loops.values()].map(({ loop }) => loop.settled()));
    },
  };
}

function buildLoop(
  options: RoleLaneOptions,
  observer: EngineObserver,
  logger: RoleLogger,
  isLeading: () => boolean,
  wake: (key: string) => void,
): EngineLoop {
  const { client, clock, metrics, events, newId } = options;
  const { key } = observer;
  const id = `${key.namespace}/${key.name}`;
  const calls = createEngineCalls({
    client: options.engines,
    engine: key,
    addressOf: options.addressOf,
    token: observer.token,
    newId,
  });
  const status = new StatusWriter({
    client,
    engine: key,
    now: () => clock.now(),
    onError: (error) => logger.warn({ err: error }, "the status could not be written; it is tried again"),
    onWritten: () => {
      metrics.statusWritten();
      wake(id);
    },
  });
  return new EngineLoop({
    observer,
    worldOf: (uid) => ({
      calls,
      writes: createKubeRoleWrites(client, key, uid),
      clock: { now: () => clock.now(), sleep: (ms) => sleep(clock, ms) },
    }),
    status,
    shapeOf: () => options.shapeOf(id),
    announce: (announcement) => {
      const regarding = observer.object();
      if (regarding !== undefined) events.event({ regarding, ...announcement });
    },
    metrics,
    logger,
    now: () => clock.now(),
    wall: () => clock.wall(),
    isLeading,
    newId,
  });
}

function gaugesOf({ loop, observer }: RunningLoop): EngineGauges {
  const last = loop.last();
  const streams: Record<string, number> = { connecting: 0, live: 0, ended: 0 };
  for (const { connection } of observer.streamViews()) streams[connection.kind] = (streams[connection.kind] ?? 0) + 1;
  const verdict = last?.decision.verdict.kind;
  return {
    engine: observer.key,
    epoch: last?.snapshot.lease?.epoch ?? 0,
    hasPrimary: verdict === "leading" || verdict === "leaving" || verdict === "cutOff",
    isBlocked: last?.decision.blocked !== undefined,
    streams,
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
