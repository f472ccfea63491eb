/** Leader election on a Lease: at most one process acts, and one that may have lost writes nothing more. */
import type { Random } from "./backoff.ts";
import { type Clock, sleep, systemClock } from "./clock.ts";
import { isAlreadyExists, isConflict, isNotFound } from "./errors.ts";
import { createFence, type WriteFence } from "./fence.ts";
import type { CallOptions, KubeClient } from "./kubeClient.ts";
import { held, mayTake, type Observation, observe, released } from "./leaseRecord.ts";
import { type KubeLogger, silentLogger } from "./logger.ts";
import type { KubeMetrics } from "./metrics.ts";
import { type Lease, leases } from "./resource.ts";

export interface ElectorOptions {
  readonly client: KubeClient;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Unique to this process. */
  readonly identity: string;
  /** How long others wait after the last renewal they saw. Default 15 s; a Lease holds whole seconds. */
  readonly durationMs?: number;
  /** How long this process acts after its last renewal. Default 10 s. */
  readonly renewDeadlineMs?: number;
  /** Between two tries. Default 2 s. */
  readonly retryMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: KubeLogger;
  readonly metrics?: KubeMetrics;
}

export interface ElectorCallbacks {
  /**
   * The leader's work. `signal` aborts when leadership ends. The lease is freed only after the work has ended too, or
   * when the fence closes; work that ends by itself ends leadership.
   */
  onStartedLeading(signal: AbortSignal): Promise<void>;
  /** Leadership that had begun has ended, and the fence is closed. */
  onStoppedLeading?(): void;
}

export interface Elector {
  /**
   * Campaigns, leads, and resolves when leadership has ended: `lost` after a renewal was missed, `stopped` when `signal`
   * aborted or the work ended, in which case the lease is freed for the next one. Rejects with what the work threw.
   * To be called again to campaign again.
   */
  run(signal: AbortSignal, callbacks: ElectorCallbacks): Promise<"lost" | "stopped">;
  isLeader(): boolean;
  /** To put in front of all writes of the leader, see `KubeClient.withFence`: closed once the renew deadline has passed. */
  fence(): WriteFence;
  /** Who holds the lease, as far as this process knows; undefined = nobody. */
  holder(): string | undefined;
}

const defaultDurationMs = 15_000;
const defaultRenewDeadlineMs = 10_000;
const defaultRetryMs = 2_000;
/** Stretch of the wait between two tries of a candidate, so that many do not write at once. */
const campaignJitter = 1.2;
const releaseTimeoutMs = 2_000;

export const createElector = (options: ElectorOptions): Elector => {
  const { client, identity } = options;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const logger = options.logger ?? silentLogger;
  const durationMs = options.durationMs ?? defaultDurationMs;
  const renewDeadlineMs = options.renewDeadlineMs ?? defaultRenewDeadlineMs;
  const retryMs = options.retryMs ?? defaultRetryMs;
  requireOrder(durationMs, renewDeadlineMs, retryMs);
  const metrics = options.metrics?.elector(options.lease.name);
  const fence = createFence(clock);
  /** One lost answer must leave time for another try. */
  const callMs = Math.max(retryMs, renewDeadlineMs / 3);
  let observation: Observation | undefined;
  let leading = false;

  const call = { lane: "lease", timeoutMs: callMs } as const;

  /** Writes the record over the version that was observed; false when another was faster. */
  const write = async (): Promise<boolean> => {
    const before = observation?.lease;
    const startedAt = clock.now();
    const spec = held(before?.spec, identity, durationMs, clock.wall());
    try {
      const lease =
        before === undefined
          ? await client.create(leases, { metadata: options.lease, spec }, call)
          : await client.update(leases, { ...before, spec }, call);
      observation = { lease, changedAt: clock.now() };
      // Counted from before the request: the server cannot have started the lease's time earlier.
      fence.allowUntil(startedAt + renewDeadlineMs);
      return true;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return false;
      throw error;
    }
  };

  const read = async (): Promise<Observation> => {
    const lease = await readLease(client, options.lease, call);
    observation = observe(observation, lease, clock.now());
    return observation;
  };

  /** One try to take or keep the lease. A failure is only a try less. */
  const tryHold = async (): Promise<boolean> => {
    try {
      if (leading) {
        if (await write()) return true;
        metrics?.slowPath();
      }
      return mayTake(await read(), identity, durationMs, clock.now()) && (await write());
    } catch (error) {
      logger.warn({ err: error, lease: options.lease.name }, "cannot reach the lease; will try again");
      return false;
    }
  };

  const holder = (): string | undefined => {
    const name = observation?.lease?.spec?.holderIdentity;
    return name === "" ? undefined : name;
  };

  const campaign = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && !(await tryHold())) {
      await sleep(clock, retryMs * (1 + campaignJitter * random()), signal);
    }
  };

  /** Renews until that fails for too long or `stop` aborts; whether the lease is still ours at the end. */
  const keep = async (stop: AbortSignal): Promise<boolean> => {
    let triedAt = clock.now();
    for (;;) {
      // Counted from the start of the last try: one that stalled must not cost the time of the next one too.
      const untilNext = Math.max(0, triedAt + retryMs - clock.now());
      await sleep(clock, Math.min(untilNext, fence.remainingMs()), stop);
      // Looked at before the try: after a long pause another may lead, and the work must end whatever the lease says now.
      if (fence.remainingMs() <= 0) return false;
      if (stop.aborted) return true;
      triedAt = clock.now();
      if (!(await tryHold()) && holder() !== identity) return false;
    }
  };

  const free = async (): Promise<void> => {
    const lease = observation?.lease;
    if (lease?.spec === undefined || holder() !== identity) return;
    try {
      const spec = released(lease.spec, clock.wall());
      const update = { ...lease, spec };
      observation = {
        lease: await client.update(leases, update, { ...call, timeoutMs: releaseTimeoutMs }),
        changedAt: clock.now(),
      };
    } catch (error) {
      logger.warn({ err: error, lease: options.lease.name }, "cannot free the lease; it will run out");
    }
  };

  const lead = async (signal: AbortSignal, callbacks: ElectorCallbacks): Promise<"lost" | "stopped"> => {
    const work = new AbortController();
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    leading = true;
    metrics?.leading(true);
    // The work may throw before its first await.
    const working = (async () => callbacks.onStartedLeading(work.signal))().finally(onAbort);
    working.catch(() => undefined);
    try {
      const ours = await keep(stop.signal);
      work.abort();
      if (!ours) return "lost";
      await Promise.race([working, sleep(clock, fence.remainingMs())]);
      return "stopped";
    } finally {
      signal.removeEventListener("abort", onAbort);
      const ours = fence.remainingMs() > 0;
      leading = false;
      fence.close();
      metrics?.leading(false);
      callbacks.onStoppedLeading?.();
      if (ours) await free();
    }
  };

  return {
    async run(signal, callbacks) {
      await campaign(signal);
      return signal.aborted && fence.remainingMs() <= 0 ? "stopped" : lead(signal, callbacks);
    },
    isLeader: () => leading && fence.remainingMs() > 0,
    fence: () => fence,
    holder,
  };
};

/** Without these gaps, two could lead at once, or one late answer would end a healthy leader. */
const requireOrder = (durationMs: number, renewDeadlineMs: number, retryMs: number): void => {
  if (durationMs <= renewDeadlineMs) {
    throw new RangeError(
      `lease duration (${durationMs} ms) must be longer than the renew deadline (${renewDeadlineMs} ms)`,
    );
  }
  if (renewDeadlineMs <= retryMs * campaignJitter) {
    throw new RangeError(
      `renew deadline (${renewDeadlineMs} ms) must be longer than 1.2 retry periods (${retryMs} ms)`,
    );
  }
};

const readLease = async (
  client: KubeClient,
  ref: { readonly namespace: string; readonly name: string },
  call: CallOptions,
): Promise<Lease | undefined> => {
  try {
    return await client.get(leases, ref, call);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};
