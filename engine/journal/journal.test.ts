import assert from "node:assert/strict";
import { appendFile, open, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";

import { monotonicClock } from "../process/clock.ts";
import { FatalError } from "../process/exit.ts";
import { nodeDisk } from "../storage/nodeDisk.ts";
import { batch, epochStart, orders } from "../testing/records.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import type { HistoryBase } from "./epochTable.ts";
import { type Journal, openJournal } from "./journal.ts";
import { encodeSyncMark, type JournalRecord, type Position } from "./record.ts";
import { listSegments } from "./segmentFiles.ts";

interface Opened {
  readonly journal: Journal;
  readonly recovered: JournalRecord[];
  readonly durable: Position[];
}

const openAt = async (dataDir: string, segmentBytes?: number, base?: HistoryBase): Promise<Opened> => {
  const recovered: JournalRecord[] = [];
  const durable: Position[] = [];
  const journal = await openJournal({
    disk: nodeDisk,
    dataDir,
    clock: monotonicClock,
    ...(base === undefined ? {} : { base }),
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
    onRecovered: (record) => recovered.push(record),
    onDurable: (position) => durable.push(position),
    onFailure: (error) => {
      throw error;
    },
  });
  return { journal, recovered, durable };
};

/** A closed journal of epoch 1 with `count` records in batches of `perBatch`. */
const write = async (dataDir: string, count: number, perBatch = 3, segmentBytes?: number): Promise<void> => {
  const { journal } = await openAt(dataDir, segmentBytes);
  journal.append(batch(epochStart(1, 1)));
  await journal.flushed();
  for (let seq = 2; seq <= count; seq += perBatch) {
    journal.append(batch(...orders(1, seq, Math.min(count, seq + perBatch - 1))));
    await journal.flushed();
  }
  await journal.close();
};

const segmentPaths = async (dataDir: string): Promise<string[]> =>
  (await listSegments(nodeDisk, join(dataDir, "journal"))).map(({ path }) => path);

const lastSegment = async (dataDir: string): Promise<string> => (await segmentPaths(dataDir)).at(-1) ?? "";

const seqsOf = (records: readonly JournalRecord[]): number[] => records.map(({ seq }) => seq);

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const isFatal =
  (reason: FatalError["reason"], message: RegExp) =>
  (error: unknown): boolean =>
    error instanceof FatalError && error.reason === reason && message.test(error.message);

describe("the journal", () => {
  it("gives back after a restart what was appended, in order", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 20);
    const { journal, recovered } = await openAt(dataDir);
    assert.deepEqual(seqsOf(recovered), upTo(20));
    assert.deepEqual(journal.durable, { epoch: 1, seq: 20 });
    assert.deepEqual(journal.epochTable, { entries: [{ epoch: 1, startSeq: 1, instance: "te-0" }], end: 20 });
    await journal.close();
  });

  it("makes everything that waits durable with one sync", async (test) => {
    const { journal, durable } = await openAt(await temporaryDirectory(test));
    journal.append(batch(epochStart(1, 1)));
    for (let seq = 2; seq <= 50; seq += 1) journal.append(batch(...orders(1, seq, seq)));
    assert.deepEqual(journal.durable, { epoch: 0, seq: 0 }, "nothing is durable before a sync");
    assert.deepEqual(await journal.flushed(), { epoch: 1, seq: 50 });
    assert.ok(durable.length <= 3, `${durable.length} syncs for 50 batches`);
    await journal.close();
  });

  it("refuses records that leave a gap", async (test) => {
    const { journal } = await openAt(await temporaryDirectory(test));
    assert.throws(() => journal.append(batch(...orders(1, 5, 5))), /append of record 5 to a journal that ends at 0/);
    await journal.close();
  });

  it("goes on in a new segment when one is full, and reads across them", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 40, 3, 500);
    assert.ok((await segmentPaths(dataDir)).length > 3);
    const { journal, recovered } = await openAt(dataDir, 500);
    assert.deepEqual(seqsOf(recovered), upTo(40));
    const read: number[] = [];
    for await (const piece of journal.read(11, 33)) read.push(...seqsOf(piece.records));
    assert.deepEqual(read, upTo(33).slice(10));
    await journal.close();
  });

  it("tells how large it is and how its writing goes", async (test) => {
    const { journal } = await openAt(await temporaryDirectory(test));
    assert.deepEqual({ ...journal.size, bytes: 0 }, { firstSeq: 0, lastSeq: 0, bytes: 0, cutTails: 0 });
    journal.append(batch(epochStart(1, 1)));
    assert.notEqual(journal.writePath.pendingSince, null);
    await journal.flushed();
    assert.equal(journal.writePath.pendingSince, null);
    assert.deepEqual({ ...journal.size, bytes: 0 }, { firstSeq: 1, lastSeq: 1, bytes: 0, cutTails: 0 });
    await journal.close();
  });
});

describe("a journal after a crash", () => {
  it("loses at most the unfinished end, wherever the write was torn", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 4, 3);
    const path = await lastSegment(dataDir);
    const whole = await readFile(path);
    const lastBatch = whole.lastIndexOf(encodeSyncMark({ epoch: 1, seq: 1 }));
    assert.ok(lastBatch > 0);
    for (let length = lastBatch; length < whole.length; length += 5) {
      await writeFile(path, whole.subarray(0, length));
      const { journal, recovered } = await openAt(dataDir);
      assert.ok(recovered.length >= 1 && recovered.length < 4, `${recovered.length} records of ${length} bytes`);
      assert.deepEqual(seqsOf(recovered), upTo(recovered.length));
      await journal.close();
    }
  });

  it("takes garbage behind the last sync for a torn write and goes on from there", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 7);
    await appendFile(await lastSegment(dataDir), Buffer.alloc(300, 0xab));
    const { journal, recovered } = await openAt(dataDir);
    assert.deepEqual(seqsOf(recovered), upTo(7));
    journal.append(batch(...orders(1, 8, 9)));
    await journal.close();
    const again = await openAt(dataDir);
    assert.deepEqual(seqsOf(again.recovered), upTo(9));
    await again.journal.close();
  });

  it("cuts a hole in the last batch together with what lies behind it", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 7, 6);
    const path = await lastSegment(dataDir);
    const { size } = await stat(path);
    await overwrite(path, size - 200, Buffer.alloc(10, 0));
    const { journal, recovered } = await openAt(dataDir);
    assert.ok(recovered.length < 7);
    assert.deepEqual(seqsOf(recovered), upTo(recovered.length));
    await journal.close();
  });

  it("forgets a segment whose creation was interrupted", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 7);
    await writeFile(join(dataDir, "journal", "0000000000000008.log"), "TEJO");
    const { journal, recovered } = await openAt(dataDir);
    assert.deepEqual(seqsOf(recovered), upTo(7));
    assert.equal((await segmentPaths(dataDir)).length, 1);
    await journal.close();
  });
});

describe("a damaged journal", () => {
  it("is refused when synced records lie behind the damage", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 20);
    const path = await lastSegment(dataDir);
    const before = await readFile(path);
    await overwrite(path, 250, Buffer.alloc(1, 0xee));
    await assert.rejects(
      openAt(dataDir),
      isFatal("corrupt", /damaged at byte \d+, after record \d+, with synced records/),
    );
    assert.equal((await readFile(path)).length, before.length, "nothing was cut");
  });

  it("is refused when any but the last segment ends early", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 40, 3, 500);
    const [first] = await segmentPaths(dataDir);
    await truncate(first ?? "", 300);
    await assert.rejects(openAt(dataDir), isFatal("corrupt", /rebuild this replica|the journal before it ends at/));
  });

  it("is refused when a segment is missing", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 40, 3, 500);
    const [, second] = await segmentPaths(dataDir);
    await rm(second ?? "");
    await assert.rejects(
      openAt(dataDir),
      isFatal("corrupt", /it begins at record \d+, and the journal before it ends/),
    );
  });

  it("is refused when it is no journal, or of another format", async (test) => {
    const dataDir = await temporaryDirectory(test);
    await write(dataDir, 2);
    const path = await lastSegment(dataDir);
    await overwrite(path, 8, Buffer.from([3, 0, 0, 0]));
    await assert.rejects(
      openAt(dataDir),
      isFatal("formatTooNew", /has journal format 3 and this release reads up to 2/),
    );
    await overwrite(path, 8, Buffer.from([1, 0, 0, 0]));
    await assert.rejects(openAt(dataDir), isFatal("corrupt", /has journal format 1/));
    await overwrite(path, 0, Buffer.from("NOTAJRNL"));
    await assert.rejects(openAt(dataDir), isFatal("corrupt", /is not a journal segment/));
  });
});

const overwrite = async (path: string, offset: number, bytes: Buffer): Promise<void> => {
  const file = await open(path, "r+");
  await file.write(bytes, 0, bytes.length, offset);
  await file.close();
};

describe("cutting a tail", () => {
  for (const segmentBytes of [undefined, 500]) {
    it(`removes it durably and keeps it aside (${segmentBytes ?? "one"} segment bytes)`, async (test) => {
      const dataDir = await temporaryDirectory(test);
      await write(dataDir, 30, 3, segmentBytes);
      const { journal } = await openAt(dataDir, segmentBytes);
      const cut = await journal.cutAfter(9);
      assert.deepEqual({ fromSeq: cut?.fromSeq, toSeq: cut?.toSeq }, { fromSeq: 10, toSeq: 30 });
      assert.deepEqual(journal.durable, { epoch: 1, seq: 9 });
      assert.equal(journal.size.cutTails, 1);
      const [name] = await readdir(join(dataDir, "cut-tails"));
      assert.equal(name, "0001-epoch-1-records-10-30.cut");
      assert.ok((await readFile(cut?.path ?? "")).includes("order-1-30"));

      journal.append(batch(epochStart(2, 10, { instance: "te-1" }), ...orders(2, 11, 12)));
      await journal.close();
      const again = await openAt(dataDir, segmentBytes);
      assert.deepEqual(
        again.recovered.map(({ epoch, seq }) => [epoch, seq]),
        [...upTo(9).map((seq) => [1, seq]), [2, 10], [2, 11], [2, 12]],
      );
      assert.equal(again.journal.size.cutTails, 1);
      await again.journal.close();
    });
  }

  it("forgets the epochs that began in the tail", async (test) => {
    const { journal } = await openAt(await temporaryDirectory(test));
    journal.append(batch(epochStart(1, 1), ...orders(1, 2, 5)));
    journal.append(batch(epochStart(3, 6, { instance: "te-2" }), ...orders(3, 7, 8)));
    await journal.cutAfter(5);
    assert.deepEqual(
      journal.epochTable.entries.map(({ epoch }) => epoch),
      [1],
    );
    assert.deepEqual(journal.last, { epoch: 1, seq: 5 });
    await journal.close();
  });

  it("can empty the journal", async (test) => {
    const { journal } = await openAt(await temporaryDirectory(test));
    journal.append(batch(epochStart(1, 1), ...orders(1, 2, 5)));
    await journal.cutAfter(0);
    assert.deepEqual(journal.last, { epoch: 0, seq: 0 });
    journal.append(batch(epochStart(2, 1)));
    assert.deepEqual(await journal.flushed(), { epoch: 2, seq: 1 });
    await journal.close();
  });

  it("does nothing when there is no tail", async (test) => {
    const { journal } = await openAt(await temporaryDirectory(test));
    journal.append(batch(epochStart(1, 1)));
    assert.equal(await journal.cutAfter(1), null);
    assert.equal(journal.size.cutTails, 0);
    await journal.close();
  });
});

describe("a journal behind a snapshot", () => {
  const baseAt = (seq: number): HistoryBase => ({
    position: { epoch: 1, seq },
    epochs: [{ epoch: 1, startSeq: 1, instance: "te-0" }],
  });
  /** One segment for every batch. */
  const smallest = 1;

  it("is read from there on, and keeps what comes before", async (test) => {
    const dir = await temporaryDirectory(test);
    await write(dir, 10, 3, smallest);
    const { journal, recovered } = await openAt(dir, smallest, baseAt(6));
    assert.deepEqual(seqsOf(recovered), [7, 8, 9, 10]);
    assert.deepEqual(journal.last, { epoch: 1, seq: 10 });
    assert.equal(journal.firstSeq, 1);
    assert.deepEqual(journal.epochTable, { entries: baseAt(6).epochs, end: 10 });
    await journal.close();
  });

  it("forgets whole segments up to a record, and recovers without them", async (test) => {
    const dir = await temporaryDirectory(test);
    await write(dir, 10, 3, smallest);
    const { journal } = await openAt(dir, smallest);
    await journal.forgetUpTo(6);
    assert.equal(journal.firstSeq, 5, "record 6 is in the middle of a segment");
    await journal.forgetUpTo(10);
    assert.equal(journal.size.firstSeq, 8, "the segment that is written to stays");
    journal.append(batch(...orders(1, 11, 12)));
    await journal.close();
    const again = await openAt(dir, smallest, baseAt(9));
    assert.deepEqual(seqsOf(again.recovered), [10, 11, 12]);
    await again.journal.close();
    await assert.rejects(
      openAt(dir, smallest),
      isFatal("corrupt", /begins here, and what is known before ends at record 0/),
    );
  });

  it("says that a record is gone, and does not answer with later ones", async (test) => {
    const dir = await temporaryDirectory(test);
    await write(dir, 10, 3, smallest);
    const { journal } = await openAt(dir, smallest);
    await journal.forgetUpTo(7);
    await assert.rejects(journal.read(2, 10).next(), /record 2 is not in the journal any more/);
    await journal.close();
  });

  it("continues behind a snapshot that is ahead of it", async (test) => {
    const dir = await temporaryDirectory(test);
    await write(dir, 4);
    const { journal } = await openAt(dir);
    await journal.restartAfter(baseAt(20));
    assert.deepEqual(
      [journal.last, journal.durable, journal.firstSeq],
      [{ epoch: 1, seq: 20 }, { epoch: 1, seq: 20 }, 21],
    );
    journal.append(batch(...orders(1, 21, 22)));
    await journal.close();
    const again = await openAt(dir, undefined, baseAt(20));
    assert.deepEqual(seqsOf(again.recovered), [21, 22]);
    await again.journal.close();
  });

  it("is begun anew when a crash came between the snapshot and that", async (test) => {
    for (const outdated of [4, 0]) {
      const dir = await temporaryDirectory(test);
      if (outdated > 0) await write(dir, outdated, 3, smallest);
      const { journal, recovered } = await openAt(dir, smallest, baseAt(20));
      assert.deepEqual(recovered, []);
      assert.deepEqual([journal.last, journal.firstSeq], [{ epoch: 1, seq: 20 }, 21]);
      assert.equal((await segmentPaths(dir)).length, 1);
      await journal.close();
    }
  });

  it("can be cut while older segments are forgotten", async (test) => {
    const dir = await temporaryDirectory(test);
    await write(dir, 10, 3, smallest);
    const { journal } = await openAt(dir, smallest);
    await Promise.all([journal.cutAfter(8), journal.forgetUpTo(5)]);
    assert.deepEqual([journal.firstSeq, journal.last.seq], [5, 8]);
    journal.append(batch(...orders(1, 9, 9)));
    await journal.close();
    const again = await openAt(dir, smallest, baseAt(5));
    assert.deepEqual(seqsOf(again.recovered), [6, 7, 8, 9]);
    await again.journal.close();
  });
});
