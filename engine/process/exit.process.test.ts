import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";

import { EngineProcess, exitCodeOf, spawnEngine } from "../testing/engineProcess.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { diskFailure, FatalError } from "./exit.ts";

describe("a disk failure", () => {
  it("tells a full disk from a broken one", () => {
    const errno = (code: string) => Object.assign(new Error(code), { code });
    assert.equal(diskFailure("write", errno("ENOSPC")).exitCode, 71);
    assert.equal(diskFailure("write", errno("EDQUOT")).exitCode, 71);
    assert.equal(diskFailure("write", errno("EIO")).exitCode, 74);
    assert.equal(diskFailure("write", "odd").exitCode, 74);
  });

  it("keeps a reason that is known already", () => {
    const corrupt = new FatalError("corrupt", "damaged");
    assert.equal(diskFailure("open", corrupt), corrupt);
  });
});

describe("the engine's process", () => {
  it("exits 64 and says what is missing when it is not configured", async (test) => {
    const root = await temporaryDirectory(test);
    const log = join(root, "termination");
    const child = await spawnEngine(root, "te-0", { TE_ORDER_ADDR: "nowhere", TE_TERMINATION_LOG: log });
    assert.equal(await exitCodeOf(child), 64);
    const reason = JSON.parse(await readFile(log, "utf8")) as { reason: string; message: string };
    assert.equal(reason.reason, "config");
    assert.match(reason.message, /TE_ORDER_ADDR must be host:port/);
  });

  it("exits 64 when a port is taken", async (test) => {
    const root = await temporaryDirectory(test);
    const first = await EngineProcess.start(test, root, "te-0");
    const { host, port } = first.client.addresses.control;
    const second = await spawnEngine(root, "te-1", { TE_CONTROL_ADDR: `${host}:${port}` });
    assert.equal(await exitCodeOf(second), 64);
  });

  it("exits 75 while another process has its data, 77 with another replica's", async (test) => {
    const root = await temporaryDirectory(test);
    const first = await EngineProcess.start(test, root, "te-0");
    assert.equal(await exitCodeOf(await spawnEngine(root, "te-0")), 75);
    await first.end("SIGKILL");
    const mixedUp = await spawnEngine(root, "te-0", { TE_INSTANCE_ID: "te-1" });
    assert.equal(await exitCodeOf(mixedUp), 77);
  });

  it("exits 76 when synced records are damaged", async (test) => {
    const root = await temporaryDirectory(test);
    const engine = await EngineProcess.start(test, root, "te-0");
    await engine.client.promote(1, [], { k: 0 });
    await engine.client.accepting();
    for (const clientId of ["one", "two", "three"]) await engine.client.bid(clientId);
    await engine.end("SIGKILL");
    const path = join(root, "te-0", "data", "journal", "0000000000000001.log");
    const bytes = await readFile(path);
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
    await truncate(path, 0);
    await writeFile(path, bytes);
    assert.equal(await exitCodeOf(await spawnEngine(root, "te-0")), 76);
  });

  it("exits 74 when a journal write fails, and acknowledges nothing of it", async (test) => {
    const root = await temporaryDirectory(test);
    const engine = await EngineProcess.start(test, root, "te-0");
    await engine.client.promote(1, [], { k: 0 });
    await engine.client.accepting();
    // From here on the kernel refuses to let any file of this process grow beyond this size.
    const limiter = spawn("prlimit", ["--pid", String(engine.child.pid), "--fsize=4096"]);
    await once(limiter, "exit");
    const acked: string[] = [];
    for (let count = 0; count < 500; count += 1) {
      const answer = await engine.client.bid(`order-${count}`).catch(() => null);
      if (answer?.status !== 200) break;
      acked.push(`order-${count}`);
    }
    assert.equal(await exitCodeOf(engine.child), 74);
    assert.ok(acked.length > 0 && acked.length < 500);
    const again = (await EngineProcess.start(test, root, "te-0")).client;
    const journal = new Set((await again.journal()).map(({ clientId }) => clientId));
    for (const clientId of acked) assert.ok(journal.has(clientId), `${clientId} is kept`);
  });
});
