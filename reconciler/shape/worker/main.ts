/** Entry of a worker process: runs one job after another, as its parent sends them. */
import { PulumiCommand } from "@pulumi/pulumi/automation/index.js";
import { engineProgram } from "./engineProgram.ts";
import { killSession } from "./processSession.ts";
import type { UpOutcome, WorkerReply, WorkerRequest } from "./protocol.ts";
import { pulumiUp } from "./pulumiUp.ts";

let command: Promise<PulumiCommand> | undefined;

const run = async ({ job }: WorkerRequest): Promise<UpOutcome> => {
  command ??= PulumiCommand.get();
  return pulumiUp(await command, {
    stack: job.stack,
    directory: job.directory,
    checkpoint: job.checkpoint,
    refresh: job.refresh,
    program: engineProgram(job),
  });
};

const failed = (error: unknown): UpOutcome => ({
  result: "failed",
  changes: {},
  steps: [],
  applied: [],
  outputs: {},
  message: error instanceof Error ? error.message : String(error),
});

process.on("message", (request: WorkerRequest) => {
  void run(request)
    .catch(failed)
    .then((outcome) => {
      const reply: WorkerReply = { id: request.id, outcome };
      process.send?.(reply);
    });
});

// At the deadline the parent signals the whole group: the CLI cancels its run and saves what it did, and this process
// must live on to report that.
process.on("SIGTERM", () => undefined);

// The daemon is gone, so nobody waits for this run any more and another replica may already repeat it.
process.on("disconnect", () => killSession(process.pid));
