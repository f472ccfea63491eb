import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { type TradingRules, tradingRules } from "../exchange/tradingRules.ts";
import { FatalError } from "./exit.ts";
import { messageOf } from "./log.ts";
import { sourceBuild } from "./sourceBuild.ts";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Everything that this process is told from outside. */
export interface EngineConfig {
  readonly clusterUid: string;
  readonly instance: string;
  readonly dataDir: string;
  readonly controlAddress: ListenAddress;
  readonly orderAddress: ListenAddress;
  readonly replicationAddress: ListenAddress;
  readonly feedAddress: ListenAddress;
  readonly token: string;
  readonly rules: TradingRules;
  /** Records after which the client id of a final order is forgotten, in the epochs that this replica leads. */
  readonly clientIdWindow: number;
  /** SHA-256 of the configuration file. */
  readonly configHash: string;
  readonly build: string;
  readonly limits: EngineLimits;
}

/** Times in milliseconds, counts in records. */
export interface EngineLimits {
  /** A peer that was silent for this long is not there. */
  readonly detectionMs: number;
  readonly heartbeatMs: number;
  /** A write that takes longer makes the write path stalled. */
  readonly writeStallMs: number;
  /** A sequenced order that is not committed by then is answered UNKNOWN. */
  readonly commitTimeoutMs: number;
  /** From TERM to the end of the process. */
  readonly drainDeadlineMs: number;
  /** A standby further behind is neither in sync nor ready. */
  readonly maxLagRecords: number;
  /** Orders that may be sequenced and not committed; more are refused. */
  readonly maxInFlight: number;
  /** A standby takes a snapshot when it has applied so many records since the last one. */
  readonly snapshotEveryRecords: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the TE_* environment and the files that it names. Throws {@link FatalError} with reason `config`. */
export const readConfig = (env: Environment): EngineConfig => {
  const configFile = read("TE_CONFIG_FILE", text(env, "TE_CONFIG_FILE", "/etc/engine/config/config.json"));
  const token = read("TE_TOKEN_FILE", text(env, "TE_TOKEN_FILE", "/etc/engine/control/token")).trim();
  if (token === "") throw invalid("TE_TOKEN_FILE", "names an empty file; put the control token into it");
  return {
    clusterUid: text(env, "TE_CLUSTER_UID"),
    instance: text(env, "TE_INSTANCE_ID"),
    dataDir: text(env, "TE_DATA_DIR", "/var/lib/engine"),
    controlAddress: address(env, "TE_CONTROL_ADDR", "0.0.0.0:7070"),
    orderAddress: address(env, "TE_ORDER_ADDR", "0.0.0.0:7000"),
    replicationAddress: address(env, "TE_REPLICATION_ADDR", "0.0.0.0:7080"),
    feedAddress: address(env, "TE_FEED_ADDR", "0.0.0.0:7001"),
    token,
    rules: rulesFrom(configFile),
    clientIdWindow: count(env, "TE_CLIENT_ID_WINDOW", 1_000_000),
    configHash: createHash("sha256").update(configFile).digest("hex"),
    build: env["TE_BUILD"] ?? sourceBuild(),
    limits: {
      detectionMs: count(env, "TE_DETECTION_MS", 1_000),
      heartbeatMs: count(env, "TE_HEARTBEAT_MS", 50),
      writeStallMs: count(env, "TE_WRITE_STALL_MS", 3_000),
      commitTimeoutMs: count(env, "TE_COMMIT_TIMEOUT_MS", 2_000),
      drainDeadlineMs: count(env, "TE_DRAIN_DEADLINE_MS", 10_000),
      maxLagRecords: count(env, "TE_MAX_LAG_RECORDS", 10_000),
      snapshotEveryRecords: count(env, "TE_SNAPSHOT_EVERY_RECORDS", 1_000_000),
      maxInFlight: count(env, "TE_MAX_IN_FLIGHT", 5_000),
    },
  };
};

const invalid = (name: string, detail: string): FatalError => new FatalError("config", `${name} ${detail}`);

const text = (env: Environment, name: string, fallback?: string): string => {
  const value = env[name] ?? fallback;
  if (value === undefined || value === "") throw invalid(name, "must be set");
  return value;
};

const count = (env: Environment, name: string, fallback: number): number => {
  const value = env[name];
  if (value === undefined) return fallback;
  if (!/^\d{1,9}$/.test(value) || Number(value) === 0)
    throw invalid(name, `must be a positive integer, not "${value}"`);
  return Number(value);
};

const address = (env: Environment, name: string, fallback: string): ListenAddress => {
  const value = text(env, name, fallback);
  const parsed = parseAddress(value);
  if (parsed === null) throw invalid(name, `must be host:port, not "${value}"`);
  return parsed;
};

/** Splits host:port; null when it is not that. */
export const parseAddress = (value: string): ListenAddress | null => {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(value);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port > 65_535 ? null : { host, port };
};

const read = (name: string, path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw invalid(name, `names a file that cannot be read: ${messageOf(error)}`);
  }
};

const rulesFrom = (json: string): TradingRules => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw invalid("TE_CONFIG_FILE", `does not hold JSON: ${messageOf(error)}`);
  }
  const settings = typeof parsed === "object" && parsed !== null ? new Map(Object.entries(parsed)) : new Map();
  const setting = (key: string): string => {
    const value: unknown = settings.get(key);
    if (typeof value !== "string" || value === "") throw invalid("TE_CONFIG_FILE", `must have the string "${key}"`);
    return value;
  };
  try {
    return tradingRules(setting("tradingPair"), setting("tickSize"), setting("lotSize"));
  } catch (error) {
    if (error instanceof FatalError) throw error;
    throw invalid("TE_CONFIG_FILE", messageOf(error));
  }
};
