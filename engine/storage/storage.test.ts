import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";

import { FatalError } from "../process/exit.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { lockDataDirectory } from "./dataLock.ts";
import { claimDataDirectory } from "./identity.ts";
import { nodeDisk } from "./nodeDisk.ts";
import { PromisedEpoch } from "./promisedEpoch.ts";

const isFatal =
  (reason: FatalError["reason"], message: RegExp) =>
  (error: unknown): boolean =>
    error instanceof FatalError && error.reason === reason && message.test(error.message);

describe("the promised epoch", () => {
  it("is 0 for a new replica and survives a restart", async (test) => {
    const dir = await temporaryDirectory(test);
    const promised = await PromisedEpoch.load(nodeDisk, dir);
    assert.equal(promised.value, 0);
    promised.raise(7);
    await promised.persist();
    assert.equal((await PromisedEpoch.load(nodeDisk, dir)).value, 7);
  });

  it("never falls", async (test) => {
    const dir = await temporaryDirectory(test);
    const promised = await PromisedEpoch.load(nodeDisk, dir);
    promised.raise(7);
    promised.raise(3);
    await promised.persist();
    assert.equal((await PromisedEpoch.load(nodeDisk, dir)).value, 7);
  });

  it("tells apart what is refused already and what the disk knows", async (test) => {
    const promised = await PromisedEpoch.load(nodeDisk, await temporaryDirectory(test));
    promised.raise(7);
    const persisting = promised.persist();
    promised.raise(8);
    await persisting;
    assert.deepEqual([promised.value, promised.durable], [8, 7]);
  });

  it("is refused when the file is damaged: a guess could break a promise", async (test) => {
    const dir = await temporaryDirectory(test);
    await writeFile(join(dir, "promised-epoch"), "seven\n");
    await assert.rejects(PromisedEpoch.load(nodeDisk, dir), isFatal("corrupt", /does not hold an epoch number/));
  });

  it("ignores what an interrupted write left behind", async (test) => {
    const dir = await temporaryDirectory(test);
    const promised = await PromisedEpoch.load(nodeDisk, dir);
    promised.raise(7);
    await promised.persist();
    await writeFile(join(dir, "promised-epoch.new"), "9");
    assert.equal((await PromisedEpoch.load(nodeDisk, dir)).value, 7);
  });

  it("ends the process when it cannot be written", async (test) => {
    const dir = await temporaryDirectory(test);
    const promised = await PromisedEpoch.load(nodeDisk, dir);
    await mkdir(join(dir, "promised-epoch"));
    promised.raise(1);
    await assert.rejects(promised.persist(), isFatal("io", /write the promised epoch/));
  });
});

describe("a data directory", () => {
  const own = { clusterUid: "trading/btc-usdt", instance: "btc-usdt-0" };

  it("is claimed by the first replica and recognised by it", async (test) => {
    const dir = await temporaryDirectory(test);
    await claimDataDirectory(nodeDisk, dir, own);
    await claimDataDirectory(nodeDisk, dir, own);
    assert.equal(await readFile(join(dir, "identity"), "utf8"), "trading/btc-usdt\nbtc-usdt-0\n");
  });

  for (const other of [
    { ...own, instance: "btc-usdt-1" },
    { ...own, clusterUid: "trading/eth-usdt" },
  ]) {
    it(`is refused to ${other.instance} of ${other.clusterUid}`, async (test) => {
      const dir = await temporaryDirectory(test);
      await claimDataDirectory(nodeDisk, dir, own);
      await assert.rejects(
        claimDataDirectory(nodeDisk, dir, other),
        isFatal("identity", /belongs to replica btc-usdt-0 of trading\/btc-usdt.*attach the right volume/),
      );
    });
  }
});

describe("the lock of a data directory", () => {
  it("keeps a second one out until it is released", async (test) => {
    const dir = await temporaryDirectory(test);
    const lock = await lockDataDirectory(dir);
    await assert.rejects(lockDataDirectory(dir), isFatal("inUse", /another process uses/));
    await lock.release();
    await (await lockDataDirectory(dir)).release();
  });

  it("does not outlive a killed process", async (test) => {
    const dir = await temporaryDirectory(test);
    const script = `import { lockDataDirectory } from ${JSON.stringify(new URL("./dataLock.ts", import.meta.url).href)};
      await lockDataDirectory(process.argv[1]); console.log("locked"); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ["--input-type=module", "-e", script, dir], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(holder.stdout, "data");
    await assert.rejects(lockDataDirectory(dir), isFatal("inUse", /another process uses/));
    const ended = once(holder, "exit");
    holder.kill("SIGKILL");
    await ended;
    await (await lockDataDirectory(dir)).release();
  });

  it("says what is wrong with a path that is too long", async (test) => {
    const dir = join(await temporaryDirectory(test), "x".repeat(120));
    await assert.rejects(lockDataDirectory(dir), isFatal("config", /TE_DATA_DIR is too long/));
  });
});
