import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type FakeExecSession, startFakeExecServer } from "../../tests/fakeApiServer/fakeExec.ts";
import { ApiError, isAborted, isTimeout, isUnreachable } from "./errors.ts";
import { type ExecOptions, execInPod } from "./exec.ts";

const success = JSON.stringify({ kind: "Status", status: "Success" });
const exited = (code: number) =>
  JSON.stringify({
    kind: "Status",
    status: "Failure",
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  });

const run = async (
  test: TestContext,
  onSession: ((session: FakeExecSession) => void) | undefined,
  options: Partial<ExecOptions> = {},
) => {
  const fake = await startFakeExecServer(onSession);
  test.after(() => fake.stop());
  const headers = { authorization: "Bearer secret" };
  return execInPod({
    access: {
      server: fake.server,
      namespace: undefined,
      credentials: () => Promise.resolve({ headers, tls: {} }),
    },
    userAgent: "test/1",
    pod: { namespace: "trading", name: "btc-usdt-0" },
    container: "engine",
    command: ["hook", "a b"],
    timeoutMs: 5_000,
    ...options,
  });
};

describe("exec", () => {
  it("asks for the command as it is, and proves who it is", async (test) => {
    let asked: FakeExecSession["request"] | undefined;
    await run(test, (session) => {
      asked = session.request;
      session.send(3, success);
      session.close();
    });
    const url = new URL(asked?.url ?? "", "http://fake");
    assert.equal(url.pathname, "/api/v1/namespaces/trading/pods/btc-usdt-0/exec");
    assert.deepEqual(url.searchParams.getAll("command"), ["hook", "a b"]);
    assert.equal(url.searchParams.get("container"), "engine");
    assert.equal(asked?.headers["sec-websocket-protocol"], "v5.channel.k8s.io");
    assert.equal(asked.headers.authorization, "Bearer secret");
    assert.equal(asked.headers["user-agent"], "test/1");
  });

  for (const [what, status, exitCode] of [
    ["success", success, 0],
    ["a failure", exited(75), 75],
    ["a failure of another kind", JSON.stringify({ status: "Failure", reason: "InternalError" }), undefined],
  ] as const) {
    it(`gathers the output and the exit code of ${what}`, async (test) => {
      const result = await run(test, (session) => {
        session.send(1, '{"role":');
        session.send(2, "warned");
        session.send(1, '"primary"}');
        session.send(3, status);
        session.close();
      });
      assert.deepEqual(result, { exitCode, stdout: '{"role":"primary"}', stderr: "warned", truncated: false });
    });
  }

  for (const [how, end] of [
    ["closed", "close"],
    ["dropped", "drop"],
  ] as const) {
    it(`ends without an exit code when the connection is ${how} before the command told`, async (test) => {
      const result = await run(test, (session) => {
        session.send(1, "half");
        setTimeout(() => session[end](), 20);
      });
      assert.deepEqual(result, { exitCode: undefined, stdout: "half", stderr: "", truncated: false });
    });
  }

  it("keeps no more output than it was told to", async (test) => {
    const result = await run(
      test,
      (session) => {
        for (let i = 0; i < 10; i++) session.send(1, "x".repeat(300));
        session.send(3, success);
        session.close();
      },
      { maxOutputBytes: 1_000 },
    );
    assert.equal(result.stdout.length, 1_000);
    assert.equal(result.truncated, true);
    assert.equal(result.exitCode, 0);
  });

  it("pays no attention to channels that it does not know", async (test) => {
    const result = await run(test, (session) => {
      session.send(255, "");
      session.send(9, "what");
      session.send(3, success);
      session.close();
    });
    assert.deepEqual(result, { exitCode: 0, stdout: "", stderr: "", truncated: false });
  });

  it("gives up at its deadline, on a command that does not end and on an upgrade that is never answered", async (test) => {
    for (const session of [() => undefined, undefined]) {
      await assert.rejects(run(test, session, { timeoutMs: 100 }), isTimeout);
    }
  });

  it("gives up with its signal", async (test) => {
    await assert.rejects(
      run(test, () => undefined, { signal: AbortSignal.timeout(50) }),
      isAborted,
    );
    await assert.rejects(
      run(test, () => undefined, { signal: AbortSignal.abort() }),
      isAborted,
    );
  });

  it("says that it got no connection", async (test) => {
    const access = {
      server: "http://127.0.0.1:1",
      namespace: undefined,
      credentials: () => Promise.resolve({ headers: {}, tls: {} }),
    };
    await assert.rejects(
      run(test, undefined, { access }),
      (error) => error instanceof ApiError && isUnreachable(error),
    );
  });
});
