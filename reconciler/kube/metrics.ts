/** Prometheus series under the names of client-go and controller-runtime, so that dashboards made for them work here. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** One finished exchange with the API server. */
export interface ObservedRequest {
  readonly method: string;
  readonly host: string;
  /** HTTP status, or `<error>` when there was none. */
  readonly code: string;
  readonly ms: number;
  /** Of the bodies; left out for a watch, which has no end. */
  readonly bytes?: { readonly sent: number; readonly received: number };
}

export interface RequestMetrics {
  observe(request: ObservedRequest): void;
  retried(request: Pick<ObservedRequest, "method" | "host" | "code">): void;
}

export interface WorkqueueMetrics {
  added(): void;
  retried(): void;
  /** Present depth of one priority. */
  depth(priority: number, depth: number): void;
  waited(ms: number): void;
  worked(ms: number): void;
  /** How long each key has been in work, in milliseconds; asked for at each scrape. */
  onScrape(inWorkMs: () => readonly number[]): void;
}

export type ReconcileResult = "success" | "error" | "requeue_after";

export interface ControllerMetrics {
  workers(most: number): void;
  started(): void;
  finished(result: ReconcileResult, ms: number): void;
  terminalError(): void;
  panicked(): void;
  timedOut(): void;
}

export interface ElectorMetrics {
  leading(leading: boolean): void;
  slowPath(): void;
}

/** What an informer reports at each scrape. */
export interface InformerGauges {
  readonly objects: number;
  /** Since the present watch was opened; 0 while there is none. */
  readonly watchAgeMs: number;
  /** Since the API server last said anything, bookmarks included. */
  readonly lastEventAgeMs: number;
}

export interface InformerMetrics {
  relisted(cause: string): void;
  watchRestarted(): void;
  handlerFailed(): void;
  onScrape(gauges: () => InformerGauges): void;
}

/** The series of every part of the library; each part asks for its own. */
export interface KubeMetrics {
  readonly requests: RequestMetrics;
  workqueue(name: string): WorkqueueMetrics;
  controller(name: string): ControllerMetrics;
  elector(name: string): ElectorMetrics;
  informer(name: string): InformerMetrics;
}

const requestBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizeBuckets = [64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
const workqueueBuckets = Array.from({ length: 12 }, (_, i) => 10 ** (i - 8));
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const reconcileResults = ["success", "error", "requeue", "requeue_after"] as const;

/** Defines all series in `registry`. To be called once for each registry. */
export const createKubeMetrics = (registry: Registry): KubeMetrics => ({
  requests: requestMetrics(registry),
  workqueue: workqueueMetrics(registry),
  controller: controllerMetrics(registry),
  elector: electorMetrics(registry),
  informer: informerMetrics(registry),
});

/** Shorthands that put a series into `registry`. */
const define = (registry: Registry) => ({
  counter: <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers: [registry] }),
  gauge: <L extends string>(name: string, help: string, labelNames: readonly L[], collect?: () => void) =>
    new Gauge({ name, help, labelNames, registers: [registry], ...(collect === undefined ? {} : { collect }) }),
  histogram: <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers: [registry] }),
});

const requestMetrics = (registry: Registry): RequestMetrics => {
  const { counter, histogram } = define(registry);
  const total = counter("rest_client_requests_total", "Requests to the API server.", ["code", "method", "host"]);
  const retries = counter("rest_client_request_retries_total", "Requests tried again.", ["code", "verb", "host"]);
  const duration = histogram(
    "rest_client_request_duration_seconds",
    "Time of a request; of a watch, until its headers.",
    ["verb", "host"],
    requestBuckets,
  );
  const own = ["verb", "host"] as const;
  const sent = histogram("rest_client_request_size_bytes", "Size of a request's body.", own, sizeBuckets);
  const received = histogram("rest_client_response_size_bytes", "Size of an answer's body.", own, sizeBuckets);
  return {
    observe({ method, host, code, ms, bytes }) {
      total.inc({ code, method, host });
      const labels = { verb: method, host };
      duration.observe(labels, ms / 1000);
      if (bytes === undefined) return;
      sent.observe(labels, bytes.sent);
      received.observe(labels, bytes.received);
    },
    retried: ({ method, host, code }) => retries.inc({ code, verb: method, host }),
  };
};

const workqueueMetrics = (registry: Registry): KubeMetrics["workqueue"] => {
  const inWork = new Map<string, () => readonly number[]>();
  const { counter, gauge, histogram } = define(registry);
  const own = ["name", "controller"] as const;
  const depth = gauge("workqueue_depth", "Keys waiting.", [...own, "priority"]);
  const adds = counter("workqueue_adds_total", "Keys added.", own);
  const retries = counter("workqueue_retries_total", "Keys added again after a failure.", own);
  const waited = histogram("workqueue_queue_duration_seconds", "Time in the queue.", own, workqueueBuckets);
  const worked = histogram("workqueue_work_duration_seconds", "Time in work.", own, workqueueBuckets);
  const unfinished = gauge("workqueue_unfinished_work_seconds", "Time in work of all keys in work.", own, () => {
    for (const [name, ages] of inWork) {
      unfinished.set({ name, controller: name }, ages().reduce((sum, ms) => sum + ms, 0) / 1000);
    }
  });
  const longest = gauge("workqueue_longest_running_processor_seconds", "Longest time in work of a key.", own, () => {
    for (const [name, ages] of inWork) longest.set({ name, controller: name }, Math.max(0, ...ages()) / 1000);
  });
  return (name) => {
    const labels = { name, controller: name };
    depth.set({ ...labels, priority: "0" }, 0);
    adds.inc(labels, 0);
    retries.inc(labels, 0);
    waited.zero(labels);
    worked.zero(labels);
    return {
      added: () => adds.inc(labels),
      retried: () => retries.inc(labels),
      depth: (priority, value) => depth.set({ ...labels, priority: String(priority) }, value),
      waited: (ms) => waited.observe(labels, ms / 1000),
      worked: (ms) => worked.observe(labels, ms / 1000),
      onScrape: (ages) => void inWork.set(name, ages),
    };
  };
};

const controllerMetrics = (registry: Registry): KubeMetrics["controller"] => {
  const { counter, gauge, histogram } = define(registry);
  const prefix = "controller_runtime";
  const own = ["controller"] as const;
  const total = counter(`${prefix}_reconcile_total`, "Reconciles by result.", ["controller", "result"]);
  const errors = counter(`${prefix}_reconcile_errors_total`, "Reconciles that failed.", own);
  const terminal = counter(`${prefix}_terminal_reconcile_errors_total`, "Failures not tried again.", own);
  const panics = counter(`${prefix}_reconcile_panics_total`, "Reconciles that threw what is not an Error.", own);
  const timeouts = counter(`${prefix}_reconcile_timeouts_total`, "Reconciles over their deadline.", own);
  const time = histogram(`${prefix}_reconcile_time_seconds`, "Time of a reconcile.", own, reconcileBuckets);
  const most = gauge(`${prefix}_max_concurrent_reconciles`, "Workers.", own);
  const active = gauge(`${prefix}_active_workers`, "Workers at work.", own);
  return (controller) => {
    const labels = { controller };
    for (const result of reconcileResults) total.inc({ controller, result }, 0);
    for (const series of [errors, terminal, panics, timeouts]) series.inc(labels, 0);
    time.zero(labels);
    active.set(labels, 0);
    return {
      workers: (value) => most.set(labels, value),
      started: () => active.inc(labels),
      finished(result, ms) {
        active.dec(labels);
        total.inc({ controller, result });
        if (result === "error") errors.inc(labels);
        time.observe(labels, ms / 1000);
      },
      terminalError: () => terminal.inc(labels),
      panicked: () => panics.inc(labels),
      timedOut: () => timeouts.inc(labels),
    };
  };
};

const electorMetrics = (registry: Registry): KubeMetrics["elector"] => {
  const { counter, gauge } = define(registry);
  const status = gauge("leader_election_master_status", "1 while this process leads.", ["name"]);
  const slow = counter("leader_election_slowpath_total", "Renewals that had to read the lease first.", ["name"]);
  return (name) => {
    status.set({ name }, 0);
    slow.inc({ name }, 0);
    return { leading: (leading) => status.set({ name }, leading ? 1 : 0), slowPath: () => slow.inc({ name }) };
  };
};

const informerMetrics = (registry: Registry): KubeMetrics["informer"] => {
  const sources = new Map<string, () => InformerGauges>();
  const { counter, gauge } = define(registry);
  const relists = counter("informer_relists_total", "Full lists by cause.", ["name", "cause"]);
  const restarts = counter("informer_watch_restarts_total", "Watches opened anew.", ["name"]);
  const failures = counter("informer_handler_failures_total", "Handlers that threw.", ["name"]);
  const scraped = (name: string, help: string, read: (gauges: InformerGauges) => number) => {
    const series = gauge(name, help, ["name"], () => {
      for (const [informer, gauges] of sources) series.set({ name: informer }, read(gauges()));
    });
  };
  scraped("informer_objects", "Objects in the store.", (gauges) => gauges.objects);
  scraped("informer_watch_age_seconds", "Age of the present watch.", (gauges) => gauges.watchAgeMs / 1000);
  scraped("informer_last_event_age_seconds", "Time since the last event.", (gauges) => gauges.lastEventAgeMs / 1000);
  return (name) => {
    restarts.inc({ name }, 0);
    failures.inc({ name }, 0);
    return {
      relisted: (cause) => relists.inc({ name, cause }),
      watchRestarted: () => restarts.inc({ name }),
      handlerFailed: () => failures.inc({ name }),
      onScrape: (gauges) => void sources.set(name, gauges),
    };
  };
};
