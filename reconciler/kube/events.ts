/** Tells people what was done and why, as events.k8s.io/v1 Events, without ever holding up the work. */
import { type Clock, sleep, systemClock, type Timer } from "./clock.ts";
import { ApiError, isNotFound } from "./errors.ts";
import type { KubeClient } from "./kubeClient.ts";
import type { Draft, KubeObject } from "./kubeObject.ts";
import { type KubeLogger, silentLogger } from "./logger.ts";
import { microTime } from "./microTime.ts";
import { type Event, events } from "./resource.ts";

export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** The reporting controller, e.g. `enginekeeper.dev/reconciler`. */
  readonly component: string;
  /** The reporting instance, e.g. the Pod's name. */
  readonly instance: string;
  readonly clock?: Clock;
  readonly logger?: KubeLogger;
}

/** What happened. */
export interface EventInput {
  /** The object it is about. */
  readonly regarding: KubeObject;
  readonly related?: KubeObject;
  readonly type: "Normal" | "Warning";
  /** CamelCase, one word for machines. */
  readonly reason: string;
  /** What was done, CamelCase. */
  readonly action: string;
  /** For people. Cut at 1024 bytes, the API's bound. */
  readonly note: string;
}

export interface EventRecorder {
  /** Never blocks and never throws. What does not fit into the queue of 1000, or cannot be written in 12 tries, is dropped. */
  event(input: EventInput): void;
  /** Resolves once all that was recorded is written or dropped, or `signal` aborts; and takes no more. */
  stop(signal?: AbortSignal): Promise<void>;
}

interface Recorded {
  readonly namespace: string;
  readonly name: string;
  readonly body: Draft<Event>;
  series: { readonly count: number; readonly lastObservedTime: string } | undefined;
  /** The API server has it, so only the series is to be sent. */
  created: boolean;
  queued: boolean;
  /** When the same last happened. */
  seenAt: number;
  /** When it was last written, and up to which count. */
  sentAt: number;
  sentCount: number;
}

const mostQueued = 1000;
const mostTries = 12;
const betweenTriesMs = 10_000;
const sweepMs = 60_000;
/** A series that goes on is written this often, or the API server would forget it after an hour. */
const seriesRefreshMs = 30 * 60_000;
/** The same after a longer pause is a new event. */
const seriesFinishedMs = 6 * 60_000;
const noteBytes = 1024;
/** Leaves room for the suffix under the bound of 253 on names. */
const namePrefixLength = 220;

export const createEventRecorder = (options: EventRecorderOptions): EventRecorder => {
  const { client } = options;
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? silentLogger;
  const stopping = new AbortController();
  const known = new Map<string, Recorded>();
  const queue: Recorded[] = [];
  let sending: Promise<void> | undefined;
  let sweeping: Timer | undefined;
  let recordedEver = 0;
  let stopped = false;

  const write = async (recorded: Recorded): Promise<void> => {
    const { namespace, name, series } = recorded;
    if (recorded.created) {
      try {
        await client.patch(events, { namespace, name }, { series }, { type: "merge" });
        return;
      } catch (error) {
        // It has run out of its hour: written anew.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.create(events, { ...recorded.body, ...(series === undefined ? {} : { series }) });
    recorded.created = true;
  };

  const send = async (recorded: Recorded): Promise<void> => {
    recorded.queued = false;
    for (let tries = 1; ; tries++) {
      try {
        recorded.sentAt = clock.now();
        recorded.sentCount = countOf(recorded);
        await write(recorded);
        return;
      } catch (error) {
        if (tries === mostTries || !isPassing(error) || stopping.signal.aborted) {
          logger.warn({ err: error, event: recorded.body }, "event dropped");
          return;
        }
      }
      await sleep(clock, betweenTriesMs, stopping.signal);
    }
  };

  const sendAll = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await send(next);
    sending = undefined;
  };

  const enqueue = (recorded: Recorded): void => {
    if (recorded.queued) return;
    if (queue.length >= mostQueued) {
      logger.warn({ event: recorded.body }, "event dropped: the queue is full");
      return;
    }
    recorded.queued = true;
    queue.push(recorded);
    sending ??= sendAll();
  };

  /** Ends series that have gone quiet, and refreshes those that go on. Runs only while there are any. */
  const sweep = (): void => {
    const now = clock.now();
    for (const [key, recorded] of known) {
      const finished = now - recorded.seenAt > seriesFinishedMs;
      if (finished) known.delete(key);
      const unsent = countOf(recorded) > recorded.sentCount;
      if (unsent && (finished || now - recorded.sentAt > seriesRefreshMs)) enqueue(recorded);
    }
    sweeping = known.size === 0 ? undefined : clock.setTimeout(sweep, sweepMs);
  };

  return {
    event(input) {
      if (stopped) return;
      const key = keyOf(input);
      const now = clock.now();
      const before = known.get(key);
      if (before !== undefined) {
        const first = before.series === undefined;
        before.series = { count: countOf(before) + 1, lastObservedTime: microTime(clock.wall()) };
        before.seenAt = now;
        if (first) enqueue(before);
        return;
      }
      const body = eventBody(input, options, clock.wall(), recordedEver++);
      const { name, namespace } = body.metadata;
      const recorded: Recorded = {
        namespace,
        name,
        body,
        series: undefined,
        created: false,
        queued: false,
        seenAt: now,
        sentAt: now,
        sentCount: 0,
      };
      known.set(key, recorded);
      sweeping ??= clock.setTimeout(sweep, sweepMs);
      enqueue(recorded);
    },
    async stop(signal) {
      stopped = true;
      sweeping?.cancel();
      const abort = () => stopping.abort();
      if (signal?.aborted === true) abort();
      signal?.addEventListener("abort", abort, { once: true });
      await sending;
      signal?.removeEventListener("abort", abort);
    },
  };
};

const countOf = ({ series }: Recorded): number => series?.count ?? 1;

/** What makes two events the same. The note belongs to it: it says what and how long, which a series would hide. */
const keyOf = ({ regarding, related, type, reason, action, note }: EventInput): string =>
  JSON.stringify([regarding.metadata.uid, related?.metadata.uid, type, reason, action, note]);

/** The server said no to this very event: it would say so again. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError && ["unreachable", "timeout", "server", "tooManyRequests"].includes(error.kind);

const eventBody = (
  input: EventInput,
  options: EventRecorderOptions,
  wall: Date,
  sequence: number,
): Draft<Event> & { readonly metadata: { readonly namespace: string } } => {
  const { regarding, related } = input;
  const suffix = `${wall.getTime().toString(16)}${sequence.toString(16).padStart(4, "0")}`;
  return {
    metadata: {
      name: `${regarding.metadata.name.slice(0, namePrefixLength)}.${suffix}`,
      namespace: regarding.metadata.namespace ?? "default",
    },
    eventTime: microTime(wall),
    reportingController: options.component,
    reportingInstance: options.instance,
    type: input.type,
    reason: input.reason,
    action: input.action,
    note: cutToBytes(input.note, noteBytes),
    regarding: referenceTo(regarding),
    ...(related === undefined ? {} : { related: referenceTo(related) }),
  };
};

const referenceTo = ({ apiVersion, kind, metadata }: KubeObject) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
});

const cutToBytes = (text: string, most: number): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  const ellipsis = "...";
  // A character that was cut in two decodes to a replacement.
  return bytes.toString("utf8", 0, most - ellipsis.length).replace(/\uFFFD$/, "") + ellipsis;
};
