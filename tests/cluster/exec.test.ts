/** Commands in a container of a real node: what a far end that a test wrote itself cannot vouch for. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { childNames } from "../../api/names.ts";
import { containerName } from "../../infra/engine/container.ts";
import { type ExecOptions, type ExecResult, execInPod, isTimeout } from "../../reconciler/kube/index.ts";
import type { EngineRef } from "../support/engines.ts";
import { connectTestCluster, createTradingEngine, removeEngine, type TestCluster } from "./testCluster.ts";

const commandDeadlineMs = 30_000;

describe("exec through API server and kubelet", () => {
  let cluster: TestCluster;
  let engine: EngineRef;
  before(async () => {
    cluster = await connectTestCluster();
    engine = await createTradingEngine(cluster, "test-exec");
  });
  after(async () => {
    await removeEngine(engine);
    await cluster.client.close();
  });

  /** Runs a JavaScript program in the engine's first replica. */
  const runProgram = (program: string, options: Partial<ExecOptions> = {}): Promise<ExecResult> =>
    execInPod({
      access: cluster.access,
      userAgent: "enginekeeper-test",
      pod: { namespace: engine.namespace, name: childNames(engine.engine).pod(0) },
      container: containerName,
      command: ["node", "-e", program],
      timeoutMs: commandDeadlineMs,
      ...options,
    });

  it("gathers what a command writes, apart by stream, and its exit code", async () => {
    const result = await runProgram(`console.log(1); console.error("warned"); process.exitCode = 3;`);
    assert.deepEqual(result, { exitCode: 3, stdout: "1\n", stderr: "warned\n", truncated: false });
  });

  it("tells of success as exit code 0", async () => {
    assert.equal((await runProgram("")).exitCode, 0);
  });

  it("has no exit code of a program that is not there", async () => {
    const result = await runProgram("", { command: ["no-such-program"] });
    assert.notEqual(result.exitCode, 0);
  });

  it("gives up on a command that does not end", async () => {
    // Giving up ends the connection and not the process: that one ends by itself.
    const endless = "setTimeout(() => undefined, 10_000)";
    await assert.rejects(runProgram(endless, { timeoutMs: 2_000 }), isTimeout);
  });

  it("keeps no more output than it was told to, and still hears how the command ended", async () => {
    const result = await runProgram(`process.stdout.write("x".repeat(100_000))`, { maxOutputBytes: 1_000 });
    assert.deepEqual([result.exitCode, result.stdout.length, result.truncated], [0, 1_000, true]);
  });
});
