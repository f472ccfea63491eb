import { randomBytes } from "node:crypto";
import { defaultOptions, type OrderClientOptions } from "./orderClient.ts";
import type { Destination } from "./replicaRoute.ts";

/** Where a replica's control API is, for the history that the client serves. */
export interface ControlEndpoint {
  readonly instance: string;
  /** host:port */
  readonly address: string;
}

export interface ProgramConfig {
  readonly client: OrderClientOptions;
  readonly controlEndpoints: readonly ControlEndpoint[];
  /** File with the bearer token of the control API; null when there is none to read. */
  readonly tokenFile: string | null;
  /** TCP port of the client's own control server. */
  readonly port: number;
}

/** The client's own control port, unless ORDERS_PORT says otherwise. */
export const defaultPort = 7090;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the program's environment:
 *
 * - ORDERS_REPLICAS=host:port,... or ORDERS_SERVICE=host:port: where orders go (exactly one of them)
 * - ORDERS_CONTROL=instance=host:port,... and ORDERS_TOKEN_FILE: the replicas' control APIs, for GET /journal/{instance}
 * - ORDERS_RUN, ORDERS_SEED, ORDERS_WORKERS, ORDERS_RATE, ORDERS_REPEAT_SHARE, ORDERS_TICK_SIZE, ORDERS_LOT_SIZE,
 *   ORDERS_ATTEMPT_TIMEOUT_MS, ORDERS_MAX_ACKS, ORDERS_PORT: see {@link OrderClientOptions}
 *
 * @throws Error that names the variable and what it should hold.
 */
export function readConfig(env: Environment): ProgramConfig {
  return {
    client: {
      ...defaultOptions,
      destination: readDestination(env),
      run: env["ORDERS_RUN"] ?? `run-${randomBytes(4).toString("hex")}`,
      seed: readNumber(env, "ORDERS_SEED", defaultOptions.seed, { min: 0, whole: true }),
      workers: readNumber(env, "ORDERS_WORKERS", defaultOptions.workers, { min: 1, whole: true }),
      ratePerSecond: readNumber(env, "ORDERS_RATE", defaultOptions.ratePerSecond, { min: 0 }),
      repeatShare: readNumber(env, "ORDERS_REPEAT_SHARE", defaultOptions.repeatShare, { min: 0 }),
      attemptTimeoutMs: readNumber(env, "ORDERS_ATTEMPT_TIMEOUT_MS", defaultOptions.attemptTimeoutMs, { min: 1 }),
      maxAcks: readNumber(env, "ORDERS_MAX_ACKS", defaultOptions.maxAcks, { min: 1, whole: true }),
      mix: {
        ...defaultOptions.mix,
        tickSize: env["ORDERS_TICK_SIZE"] ?? defaultOptions.mix.tickSize,
        lotSize: env["ORDERS_LOT_SIZE"] ?? defaultOptions.mix.lotSize,
      },
    },
    controlEndpoints: readList(env["ORDERS_CONTROL"]).map(readControlEndpoint),
    tokenFile: env["ORDERS_TOKEN_FILE"] ?? null,
    port: readNumber(env, "ORDERS_PORT", defaultPort, { min: 0, whole: true }),
  };
}

function readDestination(env: Environment): Destination {
  const targets = readList(env["ORDERS_REPLICAS"]);
  const target = env["ORDERS_SERVICE"] ?? "";
  if ((targets.length === 0) === (target === "")) {
    throw new Error("set either ORDERS_REPLICAS=host:port,... or ORDERS_SERVICE=host:port");
  }
  for (const address of [...targets, ...(target === "" ? [] : [target])]) {
    if (!isAddress(address)) throw new Error(`"${address}" is not host:port`);
  }
  return target === "" ? { kind: "replicas", targets } : { kind: "service", target };
}

function readControlEndpoint(entry: string): ControlEndpoint {
  const [instance = "", address = ""] = entry.split("=");
  if (instance === "" || !isAddress(address)) {
    throw new Error(`ORDERS_CONTROL: "${entry}" is not instance=host:port`);
  }
  return { instance, address };
}

const readList = (text: string | undefined): readonly string[] =>
  (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");

const isAddress = (address: string): boolean => /^[^\s:/]+:\d+$/.test(address);

function readNumber(
  env: Environment,
  name: string,
  byDefault: number,
  bounds: { readonly min: number; readonly whole?: boolean },
): number {
  const text = env[name];
  if (text === undefined || text === "") return byDefault;
  const value = Number(text);
  if (!Number.isFinite(value) || value < bounds.min || (bounds.whole === true && !Number.isInteger(value))) {
    throw new Error(
      `${name}="${text}" is not a ${bounds.whole === true ? "whole " : ""}number of at least ${bounds.min}`,
    );
  }
  return value;
}
