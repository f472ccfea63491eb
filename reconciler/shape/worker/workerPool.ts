/**
 * Runs `up` jobs in worker processes, each bounded in time. Whatever happens in a worker, its session and its folder are
 * gone before the outcome is told, so that the next run for the same engine starts from nothing but the stored state.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Timer } from "../../kube/index.ts";
import type { UpJob, UpOutcome } from "./protocol.ts";
import type { WorkerProcess } from "./workerProcess.ts";

export interface WorkerPoolOptions {
  readonly start: () => WorkerProcess;
  readonly clock: Clock;
  /** Where the folders of runs are made. */
  readonly scratch: string;
  /** A run that takes longer is asked to stop. */
  readonly deadlineMs: number;
  /** And after this it is killed. */
  readonly graceMs: number;
  /** A worker is replaced after so many runs: the SDK keeps a little of each. */
  readonly runsPerWorker: number;
}

/** How a job ended; `timedOut` is judged here, the rest by the worker. */
export type JobOutcome = Omit<UpOutcome, "result"> & { readonly result: UpOutcome["result"] | "timedOut" };

export interface WorkerPool {
  /** Starts a worker ahead of the first job: loading the SDK takes it a second or two. */
  warmUp(): void;
  /** Runs a job in an idle worker or a new one; the caller bounds how many run at once. Never rejects. */
  run(job: Omit<UpJob, "directory">): Promise<JobOutcome>;
  /** Ends every worker now; running jobs fail. */
  close(): void;
}

interface Member {
  readonly worker: WorkerProcess;
  runs: number;
}

export const createWorkerPool = (options: WorkerPoolOptions): WorkerPool => {
  const idle: Member[] = [];
  const busy = new Set<Member>();

  const takeIdle = (): Member | undefined => {
    const member = idle.pop();
    return member === undefined || member.worker.alive() ? member : takeIdle();
  };

  const runIn = async (member: Member, job: UpJob): Promise<JobOutcome> => {
    const timing: { overdue: boolean; kill?: Timer } = { overdue: false };
    const deadline = options.clock.setTimeout(() => {
      timing.overdue = true;
      member.worker.terminate();
      timing.kill = options.clock.setTimeout(() => member.worker.kill(), options.graceMs);
    }, options.deadlineMs);
    try {
      const outcome = await member.worker.run(job);
      return timing.overdue && outcome.result !== "succeeded" ? timedOut(options.deadlineMs, outcome) : outcome;
    } catch (error) {
      return timing.overdue
        ? timedOut(options.deadlineMs, nothingRun)
        : { ...nothingRun, result: "failed", message: textOf(error) };
    } finally {
      deadline.cancel();
      timing.kill?.cancel();
    }
  };

  const newMember = (): Member => ({ worker: options.start(), runs: 0 });

  return {
    warmUp: () => void idle.push(newMember()),
    run: async (job) => {
      const member = takeIdle() ?? newMember();
      busy.add(member);
      member.runs += 1;
      let reusable = false;
      let directory: string | undefined;
      try {
        await mkdir(options.scratch, { recursive: true });
        directory = await mkdtemp(join(options.scratch, "run-"));
        const outcome = await runIn(member, { ...job, directory });
        // After a failure the SDK's process-wide state is not to be trusted.
        reusable = outcome.result === "succeeded" && member.runs < options.runsPerWorker;
        return outcome;
      } catch (error) {
        return { ...nothingRun, result: "failed", message: textOf(error) };
      } finally {
        busy.delete(member);
        if (reusable) idle.push(member);
        else member.worker.kill();
        if (directory !== undefined) await removeFolder(directory);
      }
    },
    close: () => {
      for (const member of [...idle.splice(0), ...busy]) member.worker.kill();
    },
  };
};

/** What is told of a run that never came to do anything. */
export const nothingRun = { changes: {}, steps: [], applied: [], outputs: {} };

const timedOut = (deadlineMs: number, outcome: Omit<UpOutcome, "result">): JobOutcome => ({
  ...outcome,
  result: "timedOut",
  message: `the update did not end within ${Math.round(deadlineMs / 1000)} s and was stopped; it is tried again`,
});

/** What cannot be removed now stays in the scratch volume, which goes with the Pod. */
const removeFolder = (directory: string): Promise<void> =>
  rm(directory, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
