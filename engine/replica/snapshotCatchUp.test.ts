import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import { FatalError } from "../process/exit.ts";
import { eventually } from "../testing/eventually.ts";
import { cancelOf } from "../testing/records.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { TestReplica, type TestReplicaOptions } from "../testing/testReplica.ts";
import { Refusal } from "./refusal.ts";

interface Place {
  readonly test: TestContext;
  readonly root: string;
}

/** Every batch of records begins a segment of its own, so that a snapshot can forget what it covers. */
const start = async (
  { test, root }: Place,
  instance: string,
  more: Partial<TestReplicaOptions> = {},
): Promise<TestReplica> => {
  const dataDir = join(root, instance);
  await mkdir(dataDir, { recursive: true });
  return TestReplica.start(test, { instance, dataDir, segmentBytes: 1, ...more });
};

const placeOf = async (test: TestContext): Promise<Place> => ({ test, root: await temporaryDirectory(test) });

const lead = async (epoch: number, primary: TestReplica, ...standbys: readonly TestReplica[]): Promise<void> => {
  const names = ["te-0", "te-1", "te-2"].filter((name) => name !== primary.instance);
  await primary.promote(epoch, names);
  for (const standby of standbys) await standby.follow(epoch, primary);
  await eventually("it takes orders", () => {
    const { standing } = primary.replica;
    return "term" in standing && standing.term.gate().kind === "open";
  });
};

const trade = async (primary: TestReplica, prefix: string, count = 5): Promise<void> => {
  for (let index = 0; index < count; index += 1) {
    assert.equal((await primary.place(`${prefix}-${index}`)).kind, "placed");
  }
};

const applied = (replica: TestReplica, like: TestReplica): Promise<void> =>
  eventually(`${replica.instance} applied what ${like.instance} has`, () => {
    const { seq, hash } = like.exchange.lastHash;
    const own = replica.exchange.lastHash;
    return own.seq === seq && own.hash === hash && replica.journal.last.seq >= seq;
  });

const snapshotOn = async (replica: TestReplica): Promise<number> => {
  await replica.replica.takeSnapshot();
  await eventually("the snapshot is taken", () => replica.snapshots.taker.taking === null);
  assert.equal(replica.snapshots.warning, null);
  return replica.snapshots.store.newest?.seq ?? 0;
};

/** Trades until both have two snapshots, so that neither needs the beginning of its journal any more. */
const forgetBeginning = async (primary: TestReplica, standby: TestReplica, prefix: string): Promise<void> => {
  for (const round of [1, 2]) {
    await trade(primary, `${prefix}-${round}`);
    await applied(standby, primary);
    const seq = await snapshotOn(standby);
    await eventually("the primary fetched it", () => primary.snapshots.store.newest?.seq === seq);
  }
  await eventually("the beginning is forgotten", () => primary.journal.firstSeq > 1 && standby.journal.firstSeq > 1);
};

describe("a replica that restarts", () => {
  it("loads its newest snapshot, reads only what comes after it, and has the same state", async (test) => {
    const place = await placeOf(test);
    const [primary, standby] = [await start(place, "te-0"), await start(place, "te-1")];
    await lead(1, primary, standby);
    await forgetBeginning(primary, standby, "a");
    await trade(primary, "b");
    await applied(standby, primary);
    const { hash } = primary.exchange.lastHash;
    for (const replica of [primary, standby]) await replica.stop();

    const again = [await start(place, "te-0"), await start(place, "te-1")] as const;
    await lead(2, again[0], again[1]);
    await trade(again[0], "c", 1);
    await applied(again[1], again[0]);
    assert.equal(again[0].exchange.hashAt(primary.exchange.appliedSeq), hash);
    assert.equal(again[0].exchange.isOpen("a-1-0"), true, "an order from before the journal");
    assert.deepEqual(
      again[0].journal.epochTable.entries.map(({ epoch }) => epoch),
      [1, 2],
    );
  });

  it("goes back to the older snapshot when the newest is damaged, and says so", async (test) => {
    const place = await placeOf(test);
    const [primary, standby] = [await start(place, "te-0"), await start(place, "te-1")];
    await lead(1, primary, standby);
    await forgetBeginning(primary, standby, "a");
    const [older, newest] = standby.snapshots.store.manifests;
    await standby.stop();
    assert.ok(older !== undefined && newest !== undefined);
    await damage(join(place.root, "te-1", "snapshots", `1-${newest.seq}.state`));

    const again = await start(place, "te-1");
    assert.match(again.snapshots.warning ?? "", /is damaged and was set aside/);
    assert.deepEqual(again.snapshots.store.manifests, [older]);
    await again.follow(1, primary);
    await applied(again, primary);
  });

  it("ends with code 76 when no snapshot and no journal from the beginning is left", async (test) => {
    const place = await placeOf(test);
    const [primary, standby] = [await start(place, "te-0"), await start(place, "te-1")];
    await lead(1, primary, standby);
    await forgetBeginning(primary, standby, "a");
    await standby.stop();
    const dir = join(place.root, "te-1", "snapshots");
    for (const name of await readdir(dir)) if (name.endsWith(".state")) await damage(join(dir, name));
    await assert.rejects(start(place, "te-1"), (error) => error instanceof FatalError && error.exitCode === 76);
  });
});

describe("a follower that is behind the beginning of its primary's journal", () => {
  it("fetches a snapshot, follows from there, and can lead", async (test) => {
    const place = await placeOf(test);
    const [primary, standby] = [await start(place, "te-0"), await start(place, "te-1")];
    await lead(1, primary, standby);
    await forgetBeginning(primary, standby, "a");
    const empty = await start(place, "te-2");
    await empty.follow(1, primary);
    await applied(empty, primary);
    assert.ok(empty.journal.firstSeq > 1);
    assert.equal(empty.exchange.isOpen("a-1-0"), true);

    await trade(primary, "b");
    await applied(empty, primary);
    await primary.fence(2);
    await standby.fence(2);
    await lead(2, empty, standby);
    await trade(empty, "c");
    await applied(standby, empty);
    assert.deepEqual(empty.failures, []);
  });

  it("does so too when it holds a tail that nobody else has", async (test) => {
    const place = await placeOf(test);
    const [primary, standby, third] = [
      await start(place, "te-0"),
      await start(place, "te-1"),
      await start(place, "te-2"),
    ];
    await lead(1, third, standby);
    await trade(third, "a", 2);
    await applied(standby, third);
    await standby.fence(2);
    const { standing } = third.replica;
    assert.ok("term" in standing);
    standing.term.sequence(cancelOf("a-0"), { applied: () => undefined });
    await eventually("the tail is durable", () => third.journal.durable.seq === 4);
    await third.stop();

    await primary.follow(2, standby);
    await standby.promote(2, ["te-0", "te-2"]);
    await eventually("it takes orders", () => {
      const now = standby.replica.standing;
      return "term" in now && now.term.gate().kind === "open";
    });
    await forgetBeginning(standby, primary, "b");
    const again = await start(place, "te-2");
    await again.follow(2, standby);
    await applied(again, standby);
    assert.equal(again.journal.size.cutTails, 1);
    assert.equal(again.exchange.isOpen("a-0"), true, "the cancellation was never committed");
  });

  it("begins its journal anew at the next start when it died right after the fetch", async (test) => {
    const place = await placeOf(test);
    const [primary, standby] = [await start(place, "te-0"), await start(place, "te-1")];
    await lead(1, primary, standby);
    const late = await start(place, "te-2");
    await late.follow(1, primary);
    await trade(primary, "z", 1);
    await applied(late, primary);
    await late.stop();
    await forgetBeginning(primary, standby, "a");

    // What the disk holds when the process dies between the end of the fetch and anything else.
    const { newest } = primary.snapshots.store;
    assert.ok(newest !== undefined);
    for (const kind of ["json", "state"]) {
      const name = `1-${newest.seq}.${kind}`;
      const bytes = await readFile(join(place.root, "te-0", "snapshots", name));
      await writeFile(join(place.root, "te-2", "snapshots", name), bytes);
    }
    const again = await start(place, "te-2");
    assert.deepEqual(again.journal.last, { epoch: 1, seq: newest.seq });
    await again.follow(1, primary);
    await trade(primary, "y", 1);
    await applied(again, primary);
  });

  it("waits when there is no snapshot to fetch, and says why", async (test) => {
    const place = await placeOf(test);
    const [primary, standby] = [await start(place, "te-0"), await start(place, "te-1")];
    await lead(1, primary, standby);
    await forgetBeginning(primary, standby, "a");
    await primary.stop();
    await standby.stop();
    // A journal without its beginning, and a snapshot that somebody took away after the start.
    const again = [await start(place, "te-0"), await start(place, "te-1")] as const;
    await lead(2, again[0], again[1]);
    for (const manifest of [...again[0].snapshots.store.manifests]) await again[0].snapshots.store.setAside(manifest);
    const empty = await start(place, "te-2");
    await empty.follow(2, again[0]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(empty.exchange.appliedSeq, 0);
    await snapshotOn(again[1]);
    await applied(empty, again[0]);
  });
});

describe("snapshots", () => {
  it("are taken by a standby on its own, and bound the journal of the primary too", async (test) => {
    const place = await placeOf(test);
    const often = { limits: { snapshotEveryRecords: 10 } };
    const [primary, standby] = [await start(place, "te-0", often), await start(place, "te-1", often)];
    await lead(1, primary, standby);
    for (let round = 0; round < 12; round += 1) {
      await trade(primary, `r-${round}`, 5);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await eventually("both forgot their beginning", () => primary.journal.firstSeq > 1 && standby.journal.firstSeq > 1);
    for (const replica of [primary, standby]) await replica.stop();
    assert.deepEqual([primary.failures, standby.failures], [[], []]);
  });

  it("are refused by a primary that others could take them for, and taken by one that is alone", async (test) => {
    const place = await placeOf(test);
    const [primary, standby] = [await start(place, "te-0"), await start(place, "te-1")];
    await lead(1, primary, standby);
    await assert.rejects(
      primary.replica.takeSnapshot(),
      (error) => error instanceof Refusal && error.code === "WRONG_STATE",
    );
    const alone = await start(place, "te-2");
    await alone.promote(7, [], { k: 0 });
    await trade(alone, "a");
    assert.ok((await snapshotOn(alone)) >= 6);
  });

  it("are given up when their replica is made primary", async (test) => {
    const place = await placeOf(test);
    const [primary, standby, third] = [
      await start(place, "te-0"),
      await start(place, "te-1"),
      await start(place, "te-2"),
    ];
    await lead(1, primary, standby, third);
    await trade(primary, "a");
    await applied(standby, primary);
    const begun = standby.replica.takeSnapshot();
    await primary.fence(2);
    await third.fence(2);
    await begun;
    await lead(2, standby, third);
    assert.equal(standby.snapshots.taker.taking, null);
    await trade(standby, "b");
  });
});

const damage = async (path: string): Promise<void> => {
  const bytes = await readFile(path);
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  await rm(path);
  await writeFile(path, bytes);
};
