/** A worker process that does what the name of the stack says, to try the parent's end of it. */
import { spawn } from "node:child_process";
import type { UpOutcome, WorkerReply, WorkerRequest } from "../worker/protocol.ts";

const outcome = (result: UpOutcome["result"]): UpOutcome => ({
  result,
  changes: { update: 1 },
  steps: [],
  applied: [],
  outputs: { pid: process.pid },
});

const reply = (id: number, result: UpOutcome["result"]): void => {
  const message: WorkerReply = { id, outcome: outcome(result) };
  process.send?.(message);
};

/** Lives on in a process group of its own, as a provider whose CLI was killed. */
const leaveOrphan = (): void => {
  spawn("sh", ["-c", "set -m; sleep 600 & wait"], { stdio: "ignore" });
};

let onTerminate = (): void => undefined;
process.on("SIGTERM", () => onTerminate());

process.on("message", ({ id, job }: WorkerRequest) => {
  switch (job.stack) {
    case "succeeds":
      reply(id, "succeeded");
      return;
    case "fails":
      reply(id, "failed");
      return;
    case "stops when asked":
      leaveOrphan();
      onTerminate = () => reply(id, "failed");
      return;
    case "hangs":
      leaveOrphan();
      return;
    case "dies":
      leaveOrphan();
      process.stderr.write("out of memory\n", () => process.kill(process.pid, "SIGKILL"));
      return;
    default:
      throw new Error(`nothing is scripted for ${job.stack}`);
  }
});
