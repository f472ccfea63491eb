import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import {
  type DaemonFolders,
  daemonLog,
  daemonNames,
  daemonPid,
  gone,
  signal,
  startDaemon,
  stopDaemon,
} from "./daemon.ts";

describe("a daemon", () => {
  let folder: string;
  let folders: DaemonFolders;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "daemon-test-"));
    folders = { pids: join(folder, "pids"), logs: join(folder, "logs") };
  });
  afterEach(async () => {
    for (const name of daemonNames(folders)) await stopDaemon(folders, name, 0);
    rmSync(folder, { recursive: true, force: true });
  });

  it("is found again by its name while it runs, and not after", async () => {
    const pid = startDaemon(folders, "sleeper", "sleep", ["60"]);
    assert.equal(daemonPid(folders, "sleeper"), pid);
    await stopDaemon(folders, "sleeper");
    assert.equal(daemonPid(folders, "sleeper"), null);
    assert.deepEqual(daemonNames(folders), []);
  });

  it("is not mistaken for a later process with the same pid", () => {
    const pid = startDaemon(folders, "sleeper", "sleep", ["60"]);
    const file = join(folders.pids, "sleeper.json");
    const record = JSON.parse(readFileSync(file, "utf8")) as { startTime: string };
    writeFileSync(file, JSON.stringify({ pid, startTime: `${record.startTime}0` }));
    assert.equal(daemonPid(folders, "sleeper"), null);
    signal(pid, "SIGKILL");
  });

  it("keeps what it printed in its log", async () => {
    const pid = startDaemon(folders, "talker", "sh", ["-c", "echo one; echo two >&2; echo three"]);
    assert.ok(await gone(pid, 10_000));
    assert.equal(daemonLog(folders, "talker"), "one\ntwo\nthree");
    assert.equal(daemonLog(folders, "talker", 1), "three");
    assert.equal(daemonLog(folders, "nobody"), "");
  });

  it("that ignores TERM is killed after its grace", async () => {
    const pid = startDaemon(folders, "stubborn", "sh", ["-c", "trap '' TERM; while :; do sleep 0.1; done"]);
    await stopDaemon(folders, "stubborn", 100);
    assert.ok(await gone(pid, 1_000));
  });

  it("that is stopped by a signal can still be ended", async () => {
    const pid = startDaemon(folders, "paused", "sleep", ["60"]);
    signal(pid, "SIGSTOP");
    await stopDaemon(folders, "paused");
    assert.ok(await gone(pid, 1_000));
  });

  it("that can't be started says what is missing", () => {
    assert.throws(() => startDaemon(folders, "ghost", "/no/such/program", []), /ghost: can't start .*is it installed/);
  });

  it("that was never started is nothing to stop", async () => {
    await stopDaemon(folders, "nobody");
  });
});
