/** Entry of the reference matching engine. Settings come from the TE_* environment, see process/config.ts. */
import { existsSync, writeFileSync } from "node:fs";

import { readConfig } from "./process/config.ts";
import { Engine } from "./process/engine.ts";
import { exitCodes, FatalError } from "./process/exit.ts";
import { createLog, type Log, messageOf } from "./process/log.ts";
import { machine } from "./process/machine.ts";

/** Ends the process with the code of `error`, and leaves the reason where Kubernetes shows it. */
const die = (error: unknown, log: Log): never => {
  const fatal = error instanceof FatalError ? error : new FatalError("io", messageOf(error), { cause: error });
  log.error(fatal.message, { reason: fatal.reason, exitCode: fatal.exitCode });
  leaveReason(fatal);
  process.exit(fatal.exitCode);
};

/** The kubelet puts this file into every container, and shows what it holds when the process has ended. */
const kubeletsFile = "/dev/termination-log";

const leaveReason = ({ reason, message, seq }: FatalError): void => {
  const named = process.env["TE_TERMINATION_LOG"];
  if (named === undefined && !existsSync(kubeletsFile)) return;
  try {
    writeFileSync(named ?? kubeletsFile, JSON.stringify({ reason, ...(seq === undefined ? {} : { seq }), message }));
  } catch (error) {
    // The exit code still tells most of it.
    log.error("the reason could not be left for the kubelet", { error: messageOf(error) });
  }
};

const run = async (log: Log): Promise<void> => {
  const config = readConfig(process.env);
  const engine = new Engine({ ...machine, config, log, onFailure: (error) => die(error, log) });
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

const log = createLog({ instance: process.env["TE_INSTANCE_ID"] ?? "" }, (line) => process.stdout.write(line));
process.on("uncaughtException", (error) => die(error, log));
process.on("unhandledRejection", (error) => die(error, log));
run(log).catch((error: unknown) => die(error, log));
