/** The parent's end of one worker process: start it, give it a job, end it with all it started. */
import { type ChildProcess, fork } from "node:child_process";
import { killSession, terminateGroup } from "./processSession.ts";
import type { UpJob, UpOutcome, WorkerReply, WorkerRequest } from "./protocol.ts";

export interface WorkerOptions {
  readonly module: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Limit of the worker's own heap, in MiB. */
  readonly heapMegabytes: number;
}

/** A worker that ended without an answer. */
export class WorkerLost extends Error {
  override readonly name = "WorkerLost";
}

export interface WorkerProcess {
  readonly pid: number;
  /** False once the process has ended. */
  alive(): boolean;
  /** One at a time. Rejects with {@link WorkerLost} when the process ends first. */
  run(job: UpJob): Promise<UpOutcome>;
  /** Asks a running job to stop and to report what it did until then. */
  terminate(): void;
  /** Ends the process and everything it started, now. */
  kill(): void;
}

interface PendingJob {
  readonly id: number;
  readonly settle: (outcome: UpOutcome) => void;
  readonly fail: (error: Error) => void;
}

/** Of what a worker and the CLI print, only the end is kept: it is what says why a process died. */
const keptOutput = 8_192;

export const startWorker = ({ module, env, heapMegabytes }: WorkerOptions): WorkerProcess => {
  const child = fork(module, {
    env,
    // A session of its own: see processSession.ts.
    detached: true,
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const output = keepTail(child);
  let ended = false;
  let nextId = 0;
  let pending: PendingJob | undefined;

  const lose = (why: string) => {
    const lost = pending;
    pending = undefined;
    lost?.fail(new WorkerLost(`the worker process ${why}${output() === "" ? "" : `; it said: ${output()}`}`));
  };
  child.on("message", (reply: WorkerReply) => {
    if (reply.id !== pending?.id) return;
    const { settle } = pending;
    pending = undefined;
    settle(reply.outcome);
  });
  const killAll = () => {
    // Once the leader is gone and its session cleared, another process may get its number.
    if (child.pid !== undefined && !ended) killSession(child.pid);
  };
  child.on("error", (error) => lose(`could not be used: ${error.message}`));
  child.on("exit", (code, signal) => {
    killAll();
    ended = true;
    lose(signal === null ? `ended with code ${code ?? "unknown"}` : `was ended by ${signal}`);
  });

  return {
    pid: child.pid ?? 0,
    alive: () => !ended && child.connected,
    run: (job) =>
      new Promise((resolve, reject) => {
        const request: WorkerRequest = { id: ++nextId, job };
        pending = { id: request.id, settle: resolve, fail: reject };
        child.send(request, (error) => {
          if (error !== null) lose(`did not take the job: ${error.message}`);
        });
      }),
    terminate: () => {
      if (child.pid !== undefined && !ended) terminateGroup(child.pid);
    },
    kill: () => {
      killAll();
      lose("was ended");
    },
  };
};

const keepTail = (child: ChildProcess): (() => string) => {
  let tail = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8");
    stream?.on("data", (text: string) => {
      tail = (tail + text).slice(-keptOutput);
    });
  }
  return () => tail.trim();
};
