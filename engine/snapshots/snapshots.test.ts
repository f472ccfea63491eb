import assert from "node:assert/strict";
import { readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import type { FatalError } from "../process/exit.ts";
import { createLog } from "../process/log.ts";
import { systemTimers } from "../process/timers.ts";
import { Refusal } from "../replica/refusal.ts";
import { type Frame, FrameReader } from "../replication/frames.ts";
import { SnapshotTransfer } from "../replication/snapshotTransfer.ts";
import { nodeDisk } from "../storage/nodeDisk.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { idOf, type Manifest, parseManifest } from "./manifest.ts";
import { SnapshotCollector } from "./snapshotCollector.ts";
import { SnapshotFetch } from "./snapshotFetch.ts";
import { DamagedSnapshot } from "./snapshotFile.ts";
import { SnapshotStore } from "./snapshotStore.ts";
import { SnapshotTaker, type SnapshotTakerOptions } from "./snapshotTaker.ts";

const log = createLog({}, () => undefined);
const epochs = [{ epoch: 2, startSeq: 1, instance: "te-0" }];

/** Some pieces of different length, the same for the same `seq`. */
const piecesAt = (seq: number, count = 5): Buffer[] =>
  Array.from({ length: count }, (_, index) => Buffer.alloc(1_000 * index + seq, index));

interface Scene {
  readonly dir: string;
  readonly store: SnapshotStore;
  readonly taker: SnapshotTaker;
  readonly source: { appliedSeq: number };
  readonly events: string[];
  readonly failures: FatalError[];
  readonly take: (seq: number) => Promise<Manifest>;
}

const start = async (test: TestContext, change: Partial<SnapshotTakerOptions> = {}): Promise<Scene> => {
  const dir = await temporaryDirectory(test);
  const store = await SnapshotStore.open(nodeDisk, dir);
  const events: string[] = [];
  const failures: FatalError[] = [];
  const source = {
    appliedSeq: 0,
    get lastHash() {
      return { seq: this.appliedSeq, hash: `hash-${this.appliedSeq}` };
    },
    serialise() {
      return piecesAt(this.appliedSeq);
    },
  };
  const taker = new SnapshotTaker({
    store,
    source,
    pause: () => events.push("pause"),
    resume: () => events.push("resume"),
    epochs: () => epochs,
    flushed: () => Promise.resolve(events.push("flushed")),
    freeBytes: () => Promise.resolve(1e12),
    build: "test",
    timers: systemTimers,
    log,
    onTaken: (manifest) => events.push(`taken ${idOf(manifest)}`),
    onChange: () => undefined,
    onFailure: (error) => failures.push(error),
    ...change,
  });
  const take = async (seq: number): Promise<Manifest> => {
    source.appliedSeq = seq;
    await taker.begin();
    while (taker.taking !== null) await new Promise((resolve) => setTimeout(resolve, 1));
    const { newest } = store;
    assert.equal(newest?.seq, seq, taker.lastFailure ?? "");
    return newest;
  };
  return { dir, store, taker, source, events, failures, take };
};

const contentOf = async (store: SnapshotStore, manifest: Manifest): Promise<Buffer[]> => {
  const pieces: Buffer[] = [];
  for await (const piece of store.read(manifest)) pieces.push(piece);
  return pieces;
};

const refusedWith = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

describe("a snapshot", () => {
  it("is taken while applying stands still, and counts once all that it holds is durable", async (test) => {
    const { store, events, take } = await start(test);
    const manifest = await take(7);
    assert.deepEqual(events, ["pause", "resume", "flushed", "taken 2-7"]);
    assert.deepEqual(await contentOf(store, manifest), piecesAt(7));
    assert.deepEqual([manifest.epoch, manifest.hash, manifest.epochTable], [2, "hash-7", epochs]);
  });

  it("is found again by the next process", async (test) => {
    const { dir, take } = await start(test);
    const manifest = await take(7);
    const again = await SnapshotStore.open(nodeDisk, dir);
    assert.deepEqual(again.manifests, [manifest]);
    assert.deepEqual(await contentOf(again, manifest), piecesAt(7));
  });

  it("is one of two that are kept, and the journal is needed from the older one on", async (test) => {
    const { dir, store, take } = await start(test);
    await take(7);
    assert.equal(store.coveredSeq, 0, "one alone may be damaged");
    await take(9);
    assert.equal(store.coveredSeq, 7);
    await take(12);
    assert.deepEqual(store.manifests.map(idOf), ["2-9", "2-12"]);
    assert.equal(store.coveredSeq, 9);
    const names = await readdir(join(dir, "snapshots"));
    assert.deepEqual(names.sort(), ["2-12.json", "2-12.state", "2-9.json", "2-9.state"]);
  });

  it("is not taken twice of the same record", async (test) => {
    const { taker, take, events } = await start(test);
    await take(7);
    events.length = 0;
    assert.equal(await taker.begin(), "2-7");
    assert.deepEqual(events, []);
  });

  it("is refused beside another one, without room, and while nothing is applied", async (test) => {
    const room = { bytes: 1e12 };
    const { taker, source } = await start(test, { freeBytes: () => Promise.resolve(room.bytes) });
    await assert.rejects(taker.begin(), refusedWith("WRONG_STATE"));
    source.appliedSeq = 7;
    await taker.begin();
    await assert.rejects(taker.begin(), refusedWith("BUSY"));
    await taker.abandon();
    room.bytes = 1_000_000;
    await assert.rejects(taker.begin(), refusedWith("NO_SPACE"));
  });

  it("that is given up lets applying go on at once, and leaves nothing", async (test) => {
    const { dir, taker, source, store, events } = await start(test);
    source.appliedSeq = 7;
    await taker.begin();
    await taker.abandon();
    assert.deepEqual(events, ["pause", "resume"]);
    assert.deepEqual([store.manifests, taker.taking], [[], null]);
    assert.match(taker.lastFailure ?? "", /given up/);
    assert.deepEqual(await readdir(join(dir, "snapshots")), []);
  });

  it("that finds the disk full is given up, and the process goes on; a failing disk ends it", async (test) => {
    for (const [code, reasons] of [
      ["ENOSPC", []],
      ["EIO", ["io"]],
    ] as const) {
      const failing = { flushed: () => Promise.reject(Object.assign(new Error(code), { code })) };
      const { taker, source, failures, store } = await start(test, failing);
      source.appliedSeq = 7;
      await taker.begin();
      while (taker.taking !== null) await new Promise((resolve) => setTimeout(resolve, 1));
      assert.deepEqual(
        failures.map(({ reason }) => reason),
        reasons,
      );
      assert.deepEqual(store.manifests, []);
    }
  });

  it("that a crash left unfinished is removed at the next start", async (test) => {
    const { dir, take } = await start(test);
    await take(7);
    const snapshots = join(dir, "snapshots");
    for (const name of ["2-9.state", "2-9.json.new", "3-3.json"]) await writeFile(join(snapshots, name), "{");
    const again = await SnapshotStore.open(nodeDisk, dir);
    assert.deepEqual(again.manifests.map(idOf), ["2-7"]);
    assert.deepEqual((await readdir(snapshots)).sort(), ["2-7.json", "2-7.state"]);
  });

  it("that is damaged anywhere is noticed, at the latest at its end", async (test) => {
    const { dir, store, take } = await start(test);
    const manifest = await take(7);
    const path = join(dir, "snapshots", "2-7.state");
    const good = await readFile(path);
    for (const offset of [0, 5, 3_000, good.length - 1]) {
      const bad = Buffer.from(good);
      bad.writeUInt8(bad.readUInt8(offset) ^ 1, offset);
      await writeFile(path, bad);
      await assert.rejects(contentOf(store, manifest), DamagedSnapshot, `byte ${offset}`);
    }
    await writeFile(path, good);
    await truncate(path, good.length - 1);
    await assert.rejects(contentOf(store, manifest), DamagedSnapshot);
    await store.setAside(manifest);
    assert.deepEqual(store.manifests, []);
    const again = await SnapshotStore.open(nodeDisk, dir);
    assert.deepEqual(again.manifests, [], "nobody finds it again but people");
    assert.equal((await readdir(join(dir, "snapshots"))).length, 2);
  });
});

describe("a manifest", () => {
  it("is read as it was written, and from nothing else", async (test) => {
    const { take } = await start(test);
    const manifest = await take(7);
    assert.deepEqual(parseManifest(JSON.parse(JSON.stringify(manifest))), manifest);
    const wrong = [
      null,
      7,
      {},
      { ...manifest, seq: -1 },
      { ...manifest, sha256: "../x" },
      { ...manifest, formats: {} },
    ];
    for (const value of wrong) assert.equal(parseManifest(value), null);
  });
});

/** Two ends of a connection that hands every frame over as bytes, and can be cut. */
const connected = (
  a: SnapshotStore,
  b: SnapshotStore,
): { readonly a: SnapshotTransfer; readonly b: SnapshotTransfer } => {
  const endOf = (store: SnapshotStore, other: () => SnapshotTransfer): SnapshotTransfer => {
    const reader = new FrameReader();
    const send = (...pieces: readonly Uint8Array[]): void => {
      const frames: Frame[] = reader.push(Buffer.concat(pieces));
      for (const frame of frames) setImmediate(() => other().handle(frame));
    };
    return new SnapshotTransfer({ store, timers: systemTimers, log, send });
  };
  const ends: { a: SnapshotTransfer; b: SnapshotTransfer } = {
    a: endOf(a, () => ends.b),
    b: endOf(b, () => ends.a),
  };
  return ends;
};

describe("a snapshot of a peer", () => {
  it("arrives as it is, chunk by chunk", async (test) => {
    const [from, to] = [await start(test), await start(test)];
    const manifest = await from.take(700_000);
    const fetch = await SnapshotFetch.begin(to.store, manifest);
    await connected(from.store, to.store).b.run(fetch);
    assert.deepEqual(to.store.manifests, [manifest]);
    assert.deepEqual(await contentOf(to.store, manifest), piecesAt(700_000));
  });

  it("goes on over a new connection where the last one ended", async (test) => {
    const [from, to] = [await start(test), await start(test)];
    const manifest = await from.take(700_000);
    const fetch = await SnapshotFetch.begin(to.store, manifest);
    const first = connected(from.store, to.store);
    const running = first.b.run(fetch);
    while (fetch.receivedBytes === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    first.b.close();
    await assert.rejects(running, /the connection closed/);
    const before = fetch.receivedBytes;
    assert.ok(before > 0 && before < manifest.bytes);
    await connected(from.store, to.store).b.run(fetch);
    assert.deepEqual(await contentOf(to.store, manifest), piecesAt(700_000));
  });

  it("is not taken when it differs from its manifest, or ends early", async (test) => {
    const [from, to] = [await start(test), await start(test)];
    const manifest = await from.take(70_000);
    for (const wrong of [
      { ...manifest, sha256: "0".repeat(64) },
      { ...manifest, bytes: manifest.bytes + 1 },
      { ...manifest, seq: 1 },
    ]) {
      const fetch = await SnapshotFetch.begin(to.store, wrong);
      await assert.rejects(connected(from.store, to.store).b.run(fetch), /is unusable/);
      assert.deepEqual(to.store.manifests, []);
    }
  });
});

describe("a primary", () => {
  const collectorOf = (scene: Scene, own: { readonly appliedSeq: number; readonly hash?: string }) => {
    const added: string[] = [];
    const collector = new SnapshotCollector({
      store: scene.store,
      history: () => ({ entries: epochs, end: own.appliedSeq }),
      appliedSeq: () => own.appliedSeq,
      hashAt: () => own.hash ?? null,
      log,
      onAdded: () => added.push("added"),
    });
    return { collector, added };
  };

  it("fetches what a follower offers, once", async (test) => {
    const [follower, primary] = [await start(test), await start(test)];
    const manifest = await follower.take(70_000);
    const { collector, added } = collectorOf(primary, { appliedSeq: 80_000, hash: "hash-70000" });
    const { b } = connected(follower.store, primary.store);
    await collector.offered(JSON.parse(JSON.stringify(manifest)), (fetch) => b.run(fetch));
    await collector.offered(manifest, (fetch) => b.run(fetch));
    assert.deepEqual(added, ["added"]);
    assert.deepEqual(primary.store.manifests, [manifest]);
  });

  it("wants none of another state, of another history, or of what it has not applied itself", async (test) => {
    const [follower, primary] = [await start(test), await start(test)];
    const manifest = await follower.take(70_000);
    const offers: readonly [string, { appliedSeq: number; hash?: string }, unknown][] = [
      ["no manifest", { appliedSeq: 80_000 }, { epoch: 1 }],
      ["another hash", { appliedSeq: 80_000, hash: "other" }, manifest],
      ["not applied here", { appliedSeq: 69_999 }, manifest],
      [
        "another history",
        { appliedSeq: 80_000 },
        { ...manifest, epochTable: [...epochs, { epoch: 3, startSeq: 60_000, instance: "te-2" }] },
      ],
      ["a later format", { appliedSeq: 80_000 }, { ...manifest, formats: { snapshot: 99 } }],
    ];
    for (const [why, own, offer] of offers) {
      const { collector } = collectorOf(primary, own);
      await collector.offered(offer, () => assert.fail(why));
    }
  });

  it("leaves nothing of a fetch that ended early, and takes the next offer", async (test) => {
    const [follower, primary] = [await start(test), await start(test)];
    const manifest = await follower.take(700_000);
    const { collector, added } = collectorOf(primary, { appliedSeq: 800_000 });
    const { b } = connected(follower.store, primary.store);
    const fetching = collector.offered(manifest, (fetch) => b.run(fetch));
    await new Promise((resolve) => setTimeout(resolve, 5));
    b.close();
    await fetching;
    assert.deepEqual([added, primary.store.manifests, await readdir(join(primary.dir, "snapshots"))], [[], [], []]);
    const next = connected(follower.store, primary.store);
    await collector.offered(manifest, (fetch) => next.b.run(fetch));
    assert.deepEqual(added, ["added"]);
  });
});
