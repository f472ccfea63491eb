/** Workers that reconcile the keys of a queue. */
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "./clock.ts";
import type { KubeLogger } from "./logger.ts";
import type { KubeMetrics, ReconcileResult } from "./metrics.ts";
import type { Workqueue } from "./workqueue.ts";

export interface ReconcileContext {
  /** Aborts at the deadline and when the workers are to stop. */
  readonly signal: AbortSignal;
  /** For every log line of this run. */
  readonly reconcileId: string;
}

export interface ReconcileOutcome {
  /** Reconcile again after this long, although nothing failed. */
  readonly requeueAfterMs?: number;
}

export type Reconcile<K extends string> = (key: K, context: ReconcileContext) => Promise<ReconcileOutcome | undefined>;

/** Thrown by a reconcile when trying again cannot help until the object changes. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

export interface WorkersOptions {
  /** For metrics and logs. */
  readonly name: string;
  readonly logger: KubeLogger;
  /** Stops the workers: no further key is taken. */
  readonly signal: AbortSignal;
  /** Workers. Default 1. */
  readonly concurrency?: number;
  /** After which a reconcile's signal aborts. Default 60 s. */
  readonly deadlineMs?: number;
  readonly clock?: Clock;
  readonly metrics?: KubeMetrics;
}

const defaultDeadlineMs = 60_000;

/**
 * Runs `reconcile` for the queue's keys until `signal` aborts or the queue is shut down; resolves once all workers have
 * ended. A reconcile that throws is tried again at the queue's growing pace. It is never left running beside another
 * of the same key, so one that ignores its signal holds its worker.
 */
export const runWorkers = async <K extends string>(
  queue: Workqueue<K>,
  reconcile: Reconcile<K>,
  options: WorkersOptions,
): Promise<void> => {
  const clock = options.clock ?? systemClock;
  const metrics = options.metrics?.controller(options.name);
  const concurrency = options.concurrency ?? 1;
  metrics?.workers(concurrency);

  const failed = (key: K, reconcileId: string, error: unknown): ReconcileResult => {
    const fields = { controller: options.name, key, reconcileId, err: error };
    if (!(error instanceof Error)) metrics?.panicked();
    if (error instanceof TerminalError) {
      metrics?.terminalError();
      queue.forget(key);
      options.logger.error(fields, "reconcile failed; waiting for the object to change");
    } else {
      queue.addRateLimited(key);
      options.logger.warn(fields, "reconcile failed; will be tried again");
    }
    return "error";
  };

  const succeeded = (key: K, outcome: ReconcileOutcome | undefined): ReconcileResult => {
    queue.forget(key);
    if (outcome?.requeueAfterMs === undefined) return "success";
    queue.addAfter(key, outcome.requeueAfterMs);
    return "requeue_after";
  };

  const work = async (key: K): Promise<void> => {
    const started = clock.now();
    const reconcileId = randomUUID();
    const deadline = new AbortController();
    const timer = clock.setTimeout(() => {
      metrics?.timedOut();
      deadline.abort(new Error(`reconcile of ${key} ran over its deadline`));
    }, options.deadlineMs ?? defaultDeadlineMs);
    const signal = AbortSignal.any([deadline.signal, options.signal]);
    metrics?.started();
    let result: ReconcileResult = "error";
    try {
      result = succeeded(key, await reconcile(key, { signal, reconcileId }));
    } catch (error) {
      result = failed(key, reconcileId, error);
    } finally {
      timer.cancel();
      metrics?.finished(result, clock.now() - started);
      queue.done(key);
    }
  };

  const worker = async (): Promise<void> => {
    for (let key = await queue.get(options.signal); key !== undefined; key = await queue.get(options.signal)) {
      await work(key);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
};
