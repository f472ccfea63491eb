import { existsSync, writeFileSync } from "node:fs";

import { type Environment, readConfig } from "./config.ts";
import { Engine, type EngineOptions } from "./engine.ts";
import { exitCodes, FatalError } from "./exit.ts";
import { createLog, type Log, messageOf } from "./log.ts";

/** What an engine process runs in: the world, and what a test image adds to it. */
export type Surroundings = Omit<EngineOptions, "config" | "log" | "onFailure">;

/**
 * The life of an engine process: settings from the TE_* environment, signals, exit codes.
 * @param surroundingsFrom throws a FatalError when the environment asks for what there is not.
 */
export const runEngine = (surroundingsFrom: (env: Environment) => Surroundings): void => {
  const log = createLog({ instance: process.env["TE_INSTANCE_ID"] ?? "" }, (line) => process.stdout.write(line));
  process.on("uncaughtException", (error) => die(error, log));
  process.on("unhandledRejection", (error) => die(error, log));
  run(log, surroundingsFrom).catch((error: unknown) => die(error, log));
};

/** Ends the process with the code of `error`, and leaves the reason where Kubernetes shows it. */
const die = (error: unknown, log: Log): never => {
  const fatal = error instanceof FatalError ? error : new FatalError("io", messageOf(error), { cause: error });
  log.error(fatal.message, { reason: fatal.reason, exitCode: fatal.exitCode });
  leaveReason(fatal, log);
  process.exit(fatal.exitCode);
};

/** The kubelet puts this file into every container, and shows what it holds when the process has ended. */
const kubeletsFile = "/dev/termination-log";

const leaveReason = ({ reason, message, seq }: FatalError, log: Log): void => {
  const named = process.env["TE_TERMINATION_LOG"];
  if (named === undefined && !existsSync(kubeletsFile)) return;
  try {
    writeFileSync(named ?? kubeletsFile, JSON.stringify({ reason, ...(seq === undefined ? {} : { seq }), message }));
  } catch (error) {
    // The exit code still tells most of it.
    log.error("the reason could not be left for the kubelet", { error: messageOf(error) });
  }
};

const run = async (log: Log, surroundingsFrom: (env: Environment) => Surroundings): Promise<void> => {
  const surroundings = surroundingsFrom(process.env);
  const config = readConfig(process.env);
  const engine = new Engine({ ...surroundings, config, log, onFailure: (error) => die(error, log) });
  const started = engine.start();
  let stopping = false;
  const stop = (signal: string): void => {
    // Asked twice: end now. Nothing is acknowledged any more, and being killed is safe at any moment.
    if (stopping) process.exit(exitCodes.drained);
    stopping = true;
    log.info("draining", { signal });
    const deadlineMs = config.limits.drainDeadlineMs;
    setTimeout(() => process.exit(exitCodes.drained), deadlineMs);
    started
      .then(() => engine.stop(deadlineMs * 0.8))
      .then(
        () => process.exit(exitCodes.drained),
        (error: unknown) => die(error, log),
      );
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
  await started;
};
