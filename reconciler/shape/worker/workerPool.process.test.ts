import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../kube/index.ts";
import { sessionMembers } from "./processSession.ts";
import type { UpJob } from "./protocol.ts";
import { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from "./workerPool.ts";
import { startWorker, type WorkerProcess } from "./workerProcess.ts";

const job = (stack: string): Omit<UpJob, "directory"> => ({
  stack,
  checkpoint: "{}",
  refresh: false,
  // A scripted worker looks at the stack's name alone.
  program: {} as UpJob["program"],
  controlToken: "token",
  leadership: { primary: "", epoch: 0 },
});

const module = join(import.meta.dirname, "..", "testing", "scriptedWorker.ts");

describe("worker pool", () => {
  let scratch: string;
  let started: WorkerProcess[];
  let pool: WorkerPool;

  const open = (options: Partial<WorkerPoolOptions> = {}): WorkerPool =>
    createWorkerPool({
      start: () => {
        const worker = startWorker({ module, env: process.env, heapMegabytes: 128 });
        started.push(worker);
        return worker;
      },
      clock: systemClock,
      scratch: join(scratch, "runs"),
      deadlineMs: 60_000,
      graceMs: 60_000,
      runsPerWorker: 100,
      ...options,
    });

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), "worker-pool-"));
    started = [];
    pool = open();
  });
  afterEach(() => {
    pool.close();
    rmSync(scratch, { recursive: true, force: true });
  });

  /** Everything that a worker started must be gone, whatever group it was in. */
  const assertNothingLeft = async (worker: WorkerProcess | undefined): Promise<void> => {
    assert.ok(worker !== undefined);
    while (sessionMembers(worker.pid).length > 0) await sleep(20);
    assert.deepEqual(readdirSync(join(scratch, "runs")), []);
  };

  it("runs one job after another in the same worker, and leaves no folder", async () => {
    const first = await pool.run(job("succeeds"));
    const second = await pool.run(job("succeeds"));
    assert.equal(first.result, "succeeded");
    assert.equal(first.outputs["pid"], second.outputs["pid"]);
    assert.deepEqual(readdirSync(join(scratch, "runs")), []);
  });

  it("runs jobs side by side in workers of their own", async () => {
    const outcomes = await Promise.all([pool.run(job("succeeds")), pool.run(job("succeeds"))]);
    assert.notEqual(outcomes[0].outputs["pid"], outcomes[1].outputs["pid"]);
  });

  it("replaces a worker after its number of runs", async () => {
    pool = open({ runsPerWorker: 2 });
    const pids = [];
    for (let run = 0; run < 3; run++) pids.push((await pool.run(job("succeeds"))).outputs["pid"]);
    assert.equal(pids[0], pids[1]);
    assert.notEqual(pids[1], pids[2]);
    await assertNothingLeft(started[0]);
  });

  it("replaces a worker after a failure", async () => {
    assert.equal((await pool.run(job("fails"))).result, "failed");
    await assertNothingLeft(started[0]);
    assert.equal((await pool.run(job("succeeds"))).result, "succeeded");
    assert.equal(started.length, 2);
  });

  it("asks an overdue run to stop, and reports what it had done", async () => {
    pool = open({ deadlineMs: 1_000 });
    const outcome = await pool.run(job("stops when asked"));
    assert.equal(outcome.result, "timedOut");
    assert.deepEqual(outcome.changes, { update: 1 });
    assert.match(outcome.message ?? "", /did not end within 1 s/);
    await assertNothingLeft(started[0]);
  });

  it("kills an overdue run that does not stop, with everything it started", async () => {
    pool = open({ deadlineMs: 1_000, graceMs: 100 });
    const outcome = await pool.run(job("hangs"));
    assert.equal(outcome.result, "timedOut");
    await assertNothingLeft(started[0]);
  });

  it("reports a worker that died, with its last words, and ends what it left behind", async () => {
    const outcome = await pool.run(job("dies"));
    assert.equal(outcome.result, "failed");
    assert.match(outcome.message ?? "", /was ended by SIGKILL; it said: out of memory/);
    await assertNothingLeft(started[0]);
    assert.equal((await pool.run(job("succeeds"))).result, "succeeded");
  });

  it("does not use a worker that died while idle", async () => {
    await pool.run(job("succeeds"));
    const [worker] = started;
    assert.ok(worker !== undefined);
    process.kill(worker.pid, "SIGKILL");
    while (worker.alive()) await sleep(20);
    assert.equal((await pool.run(job("succeeds"))).result, "succeeded");
    assert.equal(started.length, 2);
  });

  it("ends running jobs and their processes when it is closed", async () => {
    const running = pool.run(job("hangs"));
    while (!existsSync(join(scratch, "runs")) || readdirSync(join(scratch, "runs")).length === 0) await sleep(20);
    pool.close();
    assert.equal((await running).result, "failed");
    await assertNothingLeft(started[0]);
  });
});
