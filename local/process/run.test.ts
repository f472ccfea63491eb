import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CommandError, run, succeeds } from "./run.ts";

describe("run", () => {
  it("answers what the program wrote to standard output, and nothing of standard error", async () => {
    assert.equal(await run("sh", ["-c", "echo out; echo err >&2"]), "out\n");
  });

  it("hands standard input over", async () => {
    assert.equal(await run("cat", [], { input: "orders\n" }), "orders\n");
  });

  it("survives a program that never reads its input", async () => {
    assert.equal(await run("true", [], { input: "x".repeat(1_000_000) }), "");
  });

  it("adds to the environment and does not replace it", async () => {
    assert.equal(await run("sh", ["-c", 'echo "$TE_TEST:${PATH:+path}"'], { env: { TE_TEST: "1" } }), "1:path\n");
  });

  it("reports each line as it comes, the last without an end of line too", async () => {
    const lines: string[] = [];
    await run("sh", ["-c", "printf 'a\\nb'"], { onLine: (line) => lines.push(line) });
    assert.deepEqual(lines, ["a", "b"]);
  });

  const failures = [
    { title: "exits with a code", args: ["-c", "echo why >&2; exit 3"], code: 3, message: /ended with 3\nwhy/ },
    { title: "is killed", args: ["-c", "kill -9 $$"], code: null, message: /ended with SIGKILL/ },
  ];
  for (const { title, args, code, message } of failures) {
    it(`fails with the output when the program ${title}`, async () => {
      await assert.rejects(run("sh", args), (error) => {
        assert.ok(error instanceof CommandError);
        assert.equal(error.exitCode, code);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  it("says so when the program does not exist", async () => {
    await assert.rejects(run("no-such-program", []), /no-such-program.*ENOENT/);
  });

  it("kills a program and its children at the deadline", async () => {
    const started = Date.now();
    await assert.rejects(run("sh", ["-c", "sleep 60 & sleep 60"], { timeoutMs: 200 }), /still running after 200 ms/);
    assert.ok(Date.now() - started < 20_000);
  });
});

describe("succeeds", () => {
  it("is true for exit code 0 only", async () => {
    assert.equal(await succeeds("true", []), true);
    assert.equal(await succeeds("false", []), false);
    assert.equal(await succeeds("no-such-program", []), false);
  });
});
