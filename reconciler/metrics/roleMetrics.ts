import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** One finished election. */
export interface ObservedElection {
  readonly engine: EngineName;
  /** first, failover or switchover. */
  readonly kind: string;
  readonly cause: string;
  /** elected, blocked, superseded or failed. */
  readonly outcome: string;
  /** Milliseconds by phase; only of an election that was won. */
  readonly phases: Readonly<Record<string, number>> | undefined;
}

export interface EngineName {
  readonly namespace: string;
  readonly name: string;
}

/** What the role lane reports of one engine at each scrape. */
export interface EngineGauges {
  readonly engine: EngineName;
  readonly epoch: number;
  readonly hasPrimary: boolean;
  readonly isBlocked: boolean;
  /** Number of status streams by state: connecting, live or ended. */
  readonly streams: Readonly<Record<string, number>>;
}

export interface RoleMetrics {
  electionEnded(election: ObservedElection): void;
  statusWritten(): void;
  stepFailed(step: string): void;
  /** `gauges` is asked at each scrape, so that an engine that is gone leaves no series. */
  onScrape(gauges: () => readonly EngineGauges[]): void;
}

const phaseBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Defines the series of the role lane in `registry`. To be called once for each registry. */
export function createRoleMetrics(registry: Registry): RoleMetrics {
  const registers = [registry];
  const labelNames = ["namespace", "engine"] as const;
  const elections = new Counter({
    name: "enginekeeper_elections_total",
    help: "Elections by kind, cause and outcome.",
    labelNames: ["kind", "cause", "outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "enginekeeper_election_duration_seconds",
    help: "Time of each phase of an election that was won; phase total is from the first sign to the new route.",
    labelNames: ["kind", "phase"],
    buckets: phaseBuckets,
    registers,
  });
  const statusWrites = new Counter({
    name: "enginekeeper_status_writes_total",
    help: "Status updates that were written.",
    registers,
  });
  const stepFailures = new Counter({
    name: "enginekeeper_role_step_failures_total",
    help: "Corrections that failed and are tried again.",
    labelNames: ["step"],
    registers,
  });
  let source: () => readonly EngineGauges[] = () => [];
  // Series are collected one after the other; reading all with the first keeps them of one moment.
  const readAll = (): void => {
    for (const series of [epoch, primary, blocked, streams]) series.reset();
    for (const { engine, ...gauges } of source()) {
      const own = { namespace: engine.namespace, engine: engine.name };
      epoch.set(own, gauges.epoch);
      primary.set(own, gauges.hasPrimary ? 1 : 0);
      blocked.set(own, gauges.isBlocked ? 1 : 0);
      for (const [state, count] of Object.entries(gauges.streams)) streams.set({ ...own, state }, count);
    }
  };
  const epoch = new Gauge({
    name: "enginekeeper_engine_epoch",
    help: "Epoch of the engine's Lease.",
    labelNames,
    registers,
    collect: readAll,
  });
  const primary = new Gauge({
    name: "enginekeeper_engine_has_primary",
    help: "1 while a primary leads.",
    labelNames,
    registers,
  });
  const blocked = new Gauge({
    name: "enginekeeper_promotion_blocked",
    help: "1 while no primary can be elected safely.",
    labelNames,
    registers,
  });
  const streams = new Gauge({
    name: "enginekeeper_status_streams",
    help: "Status streams by state.",
    labelNames: [...labelNames, "state"],
    registers,
  });

  return {
    electionEnded({ kind, cause, outcome, phases }) {
      elections.inc({ kind, cause, outcome });
      for (const [phase, ms] of Object.entries(phases ?? {}))
        durations.observe({ kind, phase: phase.replace(/Ms$/, "") }, ms / 1000);
    },
    statusWritten: () => statusWrites.inc(),
    stepFailed: (step) => stepFailures.inc({ step }),
    onScrape(gauges) {
      source = gauges;
    },
  };
}
