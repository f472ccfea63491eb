import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../reconciler/kube/index.ts";
import { emptyCheckpoint } from "../../reconciler/shape/checkpoint.ts";
import { sessionMembers } from "../../reconciler/shape/worker/processSession.ts";
import type { UpJob } from "../../reconciler/shape/worker/protocol.ts";
import { createWorkerPool, type JobOutcome } from "../../reconciler/shape/worker/workerPool.ts";
import { startWorker, type WorkerProcess } from "../../reconciler/shape/worker/workerProcess.ts";
import { type CliFault, writeScriptedCli } from "./scriptedCli.ts";

const workerModule = join(import.meta.dirname, "../../reconciler/shape/worker/main.ts");
const stack = "trading.btc-usdt";
const job: Omit<UpJob, "directory"> = {
  stack,
  checkpoint: JSON.stringify(emptyCheckpoint(stack)),
  refresh: false,
  // The scripted CLI never asks for the program.
  program: {} as UpJob["program"],
  controlToken: "token",
  leadership: { primary: "", epoch: 0 },
};

describe("worker with a faulty CLI", () => {
  let scratch: string;
  const workers: WorkerProcess[] = [];

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), "worker-main-"));
  });
  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  const runWith = async (fault: CliFault, deadlineMs = 60_000, graceMs = 60_000): Promise<JobOutcome> => {
    writeScriptedCli(scratch, fault);
    const pool = createWorkerPool({
      start: () => {
        const worker = startWorker({
          module: workerModule,
          env: { ...process.env, PATH: [scratch, process.env["PATH"]].join(delimiter) },
          heapMegabytes: 256,
        });
        workers.push(worker);
        return worker;
      },
      clock: systemClock,
      scratch: join(scratch, "runs"),
      deadlineMs,
      graceMs,
      runsPerWorker: 100,
    });
    const outcome = await pool.run(job);
    pool.close();
    for (const { pid } of workers.splice(0)) while (sessionMembers(pid).length > 0) await sleep(20);
    assert.deepEqual(readdirSync(join(scratch, "runs")), []);
    return outcome;
  };

  it("reports what the CLI says when it fails", async () => {
    const outcome = await runWith("fails");
    assert.equal(outcome.result, "failed");
    assert.match(outcome.message ?? "", /no space left on device/);
    assert.equal(outcome.checkpoint, job.checkpoint, "the state is as it was");
  });

  it("reports a killed CLI and ends the provider that it left", async () => {
    const outcome = await runWith("dies");
    assert.equal(outcome.result, "failed");
    assert.match(outcome.message ?? "", /SIGKILL/);
  });

  it("lets an overdue CLI cancel its run", async () => {
    const outcome = await runWith("cancels", 5_000);
    assert.equal(outcome.result, "timedOut");
    assert.equal(outcome.checkpoint, job.checkpoint);
  });

  it("ends a CLI that hangs, together with its provider", async () => {
    assert.equal((await runWith("hangs", 5_000, 100)).result, "timedOut");
  });

  it("tells of no state when the CLI left one that cannot be read", async () => {
    const outcome = await runWith("tears its state");
    assert.equal(outcome.result, "failed");
    assert.equal(outcome.checkpoint, undefined);
  });
});
