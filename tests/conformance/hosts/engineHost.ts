/** Where one running engine is reached, each as host:port. */
export interface Addresses {
  readonly control: string;
  readonly orders: string;
  readonly replication: string;
}

/** The environment of one start; beside it every start gets what its place gives: addresses, data folder, files. */
export interface Settings {
  readonly clusterUid: string;
  readonly instance: string;
  /** Changes to the environment; undefined removes a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type Signal = "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT";

/** One process from its start to its end. */
export interface EngineRun {
  readonly addresses: Addresses;
  signal(signal: Signal): Promise<void>;
  /** Exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** The last lines that it wrote, for people. */
  output(): Promise<string>;
}

/** A data folder of its own with addresses of its own: what a StatefulSet gives to one replica. */
export interface EnginePlace {
  /** Resolves when the process is there; it may not answer yet. */
  start(settings: Settings): Promise<EngineRun>;
  /** Changes one bit in the middle of the journal, while no process runs. */
  damageJournal(): Promise<void>;
  /** Ends every process and removes the data. */
  remove(): Promise<void>;
}

/** Runs engines for the kit. */
export interface EngineHost {
  /** What the engines are, for the report. */
  readonly subject: string;
  /** A place with an empty data folder. `name` is unique within the host. */
  makePlace(name: string): Promise<EnginePlace>;
  /** Ends every process and removes everything that was made. */
  close(): Promise<void>;
}

/** The control token of every engine that the kit starts. */
export const kitToken = "conformance-kit";

/** What TE_CONFIG_FILE holds. */
export const kitConfig = { tradingPair: "BTC/USDT", tickSize: "0.01", lotSize: "0.00001" };

/** Deadlines short enough for a test. An engine that has other means may ignore all but TE_DRAIN_DEADLINE_MS. */
export const kitEnvironment = {
  TE_DETECTION_MS: "1000",
  TE_HEARTBEAT_MS: "50",
  TE_COMMIT_TIMEOUT_MS: "1000",
  TE_DRAIN_DEADLINE_MS: "5000",
} as const;
