import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import { eventually } from "../testing/eventually.ts";
import { cancelOf } from "../testing/records.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { TestReplica, type TestReplicaOptions } from "../testing/testReplica.ts";
import { Refusal } from "./refusal.ts";

const names = ["te-0", "te-1", "te-2"] as const;
type Trio = readonly [TestReplica, TestReplica, TestReplica];

const startOne = async (
  test: TestContext,
  root: string,
  instance: string,
  more: Partial<TestReplicaOptions> = {},
): Promise<TestReplica> => {
  const dataDir = join(root, instance);
  await mkdir(dataDir, { recursive: true });
  return TestReplica.start(test, { instance, dataDir, ...more });
};

const startTrio = async (test: TestContext): Promise<{ root: string; trio: Trio }> => {
  const root = await temporaryDirectory(test);
  const [a, b, c] = names;
  return { root, trio: [await startOne(test, root, a), await startOne(test, root, b), await startOne(test, root, c)] };
};

const accepting = (replica: TestReplica): Promise<void> =>
  eventually(`${replica.instance} takes orders`, () => {
    const { standing } = replica.replica;
    return "term" in standing && standing.term.gate().kind === "open";
  });

const lead = async (epoch: number, primary: TestReplica, ...standbys: readonly TestReplica[]): Promise<void> => {
  await primary.promote(
    epoch,
    names.filter((name) => name !== primary.instance),
  );
  for (const standby of standbys) await standby.follow(epoch, primary);
  await accepting(primary);
};

const acknowledge = async (primary: TestReplica, clientId: string): Promise<void> => {
  const outcome = await primary.place(clientId);
  assert.equal(outcome.kind, "placed", "why" in outcome ? outcome.why : outcome.kind);
};

/** Gives a primary without standbys a record of its own, which it would refuse to a client. */
const uncommittable = ({ replica }: TestReplica): void => {
  assert.ok("term" in replica.standing);
  replica.standing.term.sequence(cancelOf("kept"), { applied: () => undefined });
};

const applied = (replica: TestReplica, seq: number): Promise<void> =>
  eventually(`${replica.instance} applied record ${seq}`, () => replica.exchange.appliedSeq >= seq);

const refusedWith =
  (code: Refusal["code"]) =>
  (error: unknown): boolean =>
    error instanceof Refusal && error.code === code;

describe("a primary with two standbys", () => {
  it("acknowledges an order, and all replicas come to the same state", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, ...standbys] = trio;
    await lead(1, primary, ...standbys);
    for (let count = 0; count < 20; count += 1) await acknowledge(primary, `order-${count}`);
    for (const replica of trio) await applied(replica, 21);
    assert.equal(new Set(trio.map(({ exchange }) => exchange.lastHash.hash)).size, 1);
  });

  it("gives orders that arrive together consecutive places and one answer each", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, ...standbys] = trio;
    await lead(1, primary, ...standbys);
    const outcomes = await Promise.all(Array.from({ length: 500 }, (_, index) => primary.place(`order-${index}`)));
    const seqs = outcomes.map((outcome) => (outcome.kind === "placed" ? outcome.order.position.seq : 0));
    assert.deepEqual(
      seqs,
      Array.from({ length: 500 }, (_, index) => index + 2),
    );
  });

  it("acknowledges nothing that only it holds", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    await second.fence(2);
    await third.fence(2);
    const outcome = await primary.place("alone");
    assert.ok(outcome.kind === "unknown" || outcome.kind === "cannotCommit", outcome.kind);
    assert.equal(primary.exchange.orderOf("alone"), undefined);
    await eventually("the primary knows", async () => (await primary.place("later")).kind === "cannotCommit");
  });

  it("goes on with one standby when the other is gone", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    await third.stop();
    await acknowledge(primary, "with-one-standby");
  });

  it("brings a standby up to date that comes late", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second);
    for (let count = 0; count < 30; count += 1) await acknowledge(primary, `order-${count}`);
    await third.follow(1, primary);
    await applied(third, 31);
    assert.deepEqual(third.exchange.lastHash, primary.exchange.lastHash);
  });

  it("sends the same client id to one order only, however often it is sent", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, ...standbys] = trio;
    await lead(1, primary, ...standbys);
    const outcomes = await Promise.all([primary.place("one"), primary.place("one"), primary.place("one")]);
    outcomes.push(await primary.place("one"));
    const answers = outcomes.map((outcome) => (outcome.kind === "placed" ? outcome : null));
    assert.deepEqual(
      answers.map((answer) => answer?.duplicate),
      [false, true, true, true],
    );
    assert.equal(new Set(answers.map((answer) => answer?.order.position.seq)).size, 1);
  });
});

describe("a fence", () => {
  it("ends a primary at once and finds everything it acknowledged", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    const sent = Array.from({ length: 200 }, (_, index) => primary.place(`order-${index}`));
    const answer = await primary.fence(2);
    const outcomes = await Promise.all(sent);
    const acked = outcomes.flatMap((outcome) => (outcome.kind === "placed" ? [outcome.order.position.seq] : []));
    assert.ok(Math.max(0, ...acked) <= answer.durable.seq);
    assert.equal(answer.wasPrimary, true);
    assert.equal(answer.primaryEpoch, 1);
    assert.equal(primary.replica.standing.role, "fenced");
    assert.ok(outcomes.every(({ kind }) => kind === "placed" || kind === "unknown"));
    assert.deepEqual(await primary.place("afterwards"), { kind: "cannotCommit", why: "fenced" });
  });

  it("is told with what a standby holds durably, and ends its stream", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    await acknowledge(primary, "one");
    await applied(second, 2);
    const answer = await second.fence(2);
    assert.deepEqual(answer, {
      instance: "te-1",
      promised: 2,
      durable: { epoch: 1, seq: 2 },
      blank: false,
      wasPrimary: false,
      primaryEpoch: 0,
    });
    await acknowledge(primary, "two");
    assert.equal(second.journal.last.seq, 2);
  });

  it("says that a replica without history is blank", async (test) => {
    const root = await temporaryDirectory(test);
    const replica = await startOne(test, root, "te-0");
    const answer = await replica.fence(3);
    assert.equal(answer.blank, true);
    assert.deepEqual(answer.durable, { epoch: 0, seq: 0 });
  });

  it("is kept through a restart", async (test) => {
    const root = await temporaryDirectory(test);
    const before = await startOne(test, root, "te-0");
    await before.fence(5);
    await before.stop();
    const after = await startOne(test, root, "te-0");
    await assert.rejects(after.fence(4), refusedWith("STALE_EPOCH"));
    await assert.rejects(after.promote(4, ["te-1"]), refusedWith("STALE_EPOCH"));
    assert.equal((await after.fence(5)).promised, 5);
  });

  it("leaves alone what belongs to its own epoch", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(3, primary, second, third);
    assert.equal((await primary.fence(3)).wasPrimary, false);
    await second.fence(3);
    await acknowledge(primary, "still-leading");
  });

  it("refuses a primary of a lower epoch that comes back", async (test) => {
    const { trio } = await startTrio(test);
    const [old, second, third] = trio;
    await lead(1, old, second, third);
    await second.fence(2);
    await third.fence(2);
    await assert.rejects(second.follow(1, old), refusedWith("STALE_EPOCH"));
    const outcome = await old.place("too-late");
    assert.notEqual(outcome.kind, "placed");
  });

  it("interrupts a demotion that waits for standbys", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    await second.stop();
    await third.stop();
    uncommittable(primary);
    const demotion = assert.rejects(primary.demote(1, 30_000), refusedWith("STALE_EPOCH"));
    await eventually("draining", () => primary.replica.standing.role === "draining");
    await primary.fence(2);
    await demotion;
  });
});

describe("an election", () => {
  it("keeps acknowledged orders, cuts what was never acknowledged, and keeps that aside", async (test) => {
    const { root, trio } = await startTrio(test);
    const [old, second, third] = trio;
    await lead(1, old, second, third);
    await acknowledge(old, "kept");
    await second.stop();
    await third.stop();
    uncommittable(old);
    await eventually("the tail is on the old primary's disk", () => old.journal.durable.seq === 3);
    const [next, other] = [await startOne(test, root, "te-1"), await startOne(test, root, "te-2")];
    await next.fence(2);
    await other.fence(2);
    await lead(2, next, other);
    await acknowledge(next, "new-one");

    await old.follow(2, next);
    await applied(old, 4);
    assert.equal(old.exchange.isOpen("kept"), true, "the cancellation in the tail had no effect");
    assert.equal(old.exchange.orderOf("kept")?.position.seq, 2);
    assert.equal(old.exchange.orderOf("new-one")?.position.epoch, 2);
    assert.deepEqual(old.exchange.lastHash, next.exchange.lastHash);
    assert.deepEqual(await readdir(join(root, "te-0", "cut-tails")), ["0001-epoch-1-records-3-3.cut"]);
  });

  it("answers an order of the epoch before as what it is: the same order", async (test) => {
    const { trio } = await startTrio(test);
    const [old, second, third] = trio;
    await lead(1, old, second, third);
    await acknowledge(old, "one");
    await old.fence(2);
    await second.fence(2);
    await third.fence(2);
    await lead(2, second, third, old);
    const again = await second.place("one");
    assert.ok(again.kind === "placed");
    assert.deepEqual([again.duplicate, again.order.position], [true, { epoch: 1, seq: 2 }]);
  });

  it("may choose the old primary again", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    await acknowledge(primary, "one");
    for (const replica of trio) await replica.fence(2);
    await lead(2, primary, second, third);
    await acknowledge(primary, "two");
    assert.equal(primary.exchange.appliedSeq, 4);
  });

  it("can follow one another", async (test) => {
    const { trio } = await startTrio(test);
    let epoch = 1;
    for (const turn of [0, 1, 2, 0]) {
      const [primary, ...standbys] = [...trio.slice(turn), ...trio.slice(0, turn)];
      assert.ok(primary !== undefined);
      for (const replica of trio) await replica.fence(epoch);
      await lead(epoch, primary, ...standbys);
      await acknowledge(primary, `in-epoch-${epoch}`);
      epoch += 1;
    }
    for (const replica of trio) await applied(replica, 8);
    assert.equal(new Set(trio.map(({ exchange }) => exchange.lastHash.hash)).size, 1);
    assert.deepEqual(
      trio[1].journal.epochTable.entries.map(({ instance }) => instance),
      ["te-0", "te-1", "te-2", "te-0"],
    );
  });
});

describe("a promotion", () => {
  it("is refused to a replica that is behind what is known to be acknowledged", async (test) => {
    const { trio } = await startTrio(test);
    const [primary] = trio;
    await assert.rejects(primary.promote(1, ["te-1"], { minPosition: { epoch: 0, seq: 1 } }), refusedWith("BEHIND"));
    assert.equal(primary.replica.standing.role, "standby");
  });

  it("is refused in an epoch that was led before", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    await assert.rejects(primary.promote(1, ["te-1"]), refusedWith("WRONG_STATE"));
    await assert.rejects(second.promote(1, ["te-2"]), refusedWith("WRONG_STATE"));
    await assert.rejects(primary.follow(1, second), refusedWith("WRONG_STATE"));
  });

  it("is refused in an epoch that this replica led before it restarted", async (test) => {
    const root = await temporaryDirectory(test);
    const before = await startOne(test, root, "te-0");
    await before.promote(1, ["te-1"]);
    await before.stop();
    const after = await startOne(test, root, "te-0");
    await assert.rejects(after.promote(1, ["te-1"]), refusedWith("WRONG_STATE"));
    assert.equal((await after.fence(2)).primaryEpoch, 1);
  });

  it("opens for cancellations only when asked to", async (test) => {
    const root = await temporaryDirectory(test);
    const alone = await startOne(test, root, "te-0");
    await alone.promote(1, [], { k: 0, resume: "cancelOnly" });
    await eventually("committed", () => alone.exchange.appliedSeq === 1);
    assert.equal((await alone.place("one")).kind, "cancelOnly");
    await alone.replica.undrain(alone.identity(1));
    await acknowledge(alone, "one");
  });
});

describe("a demotion", () => {
  it("loses nothing and ends at a position that the next primary can reach", async (test) => {
    const { trio } = await startTrio(test);
    const [old, second, third] = trio;
    await lead(1, old, second, third);
    const sent = Array.from({ length: 100 }, (_, index) => old.place(`order-${index}`));
    const { final } = await old.demote(1);
    const outcomes = await Promise.all(sent);
    assert.ok(
      outcomes.every(({ kind }) => kind === "placed"),
      "what was sequenced was committed",
    );
    assert.equal(old.replica.standing.role, "standby");
    const fences = [await second.fence(2), await third.fence(2)];
    const best = fences[0] !== undefined && fences[0].durable.seq === final.seq ? second : third;
    await best.promote(
      2,
      names.filter((name) => name !== best.instance),
      { minPosition: final },
    );
    await (best === second ? third : second).follow(2, best);
    await old.follow(2, best);
    await accepting(best);
    for (let index = 0; index < 100; index += 1) {
      assert.notEqual(best.exchange.orderOf(`order-${index}`), undefined);
    }
  });

  it("that cannot be finished in time leaves the primary as it was", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    const { standing } = primary.replica;
    assert.ok("term" in standing);
    await second.stop();
    await third.stop();
    uncommittable(primary);
    await assert.rejects(primary.demote(1, 50), refusedWith("TIMEOUT"));
    assert.equal(primary.replica.standing.role, "primary");
    assert.equal(standing.term.intake, "open");
  });

  it("is refused to a replica that does not lead", async (test) => {
    const { trio } = await startTrio(test);
    await assert.rejects(trio[0].demote(1), refusedWith("WRONG_STATE"));
  });
});

describe("the sync set", () => {
  it("decides whose copies count", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await primary.promote(1, ["te-2"]);
    await second.follow(1, primary);
    await eventually("te-1 holds the epoch", () => second.journal.durable.seq === 1);
    assert.equal(primary.queue.committed, 0, "a follower that is no member does not count");
    await third.follow(1, primary);
    await accepting(primary);
  });

  it("is changed once what is committed has the copies that the new rule wants", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    await acknowledge(primary, "one");
    const call = { ...primary.identity(1), version: 2, members: ["te-1", "te-2"], k: 2 };
    assert.deepEqual(await primary.replica.setMembers(call), { instance: "te-0", version: 2, committed: 2 });
    assert.equal(second.journal.durable.seq, 2);
    assert.equal(third.journal.durable.seq, 2);
    await assert.rejects(primary.replica.setMembers({ ...call, version: 1 }), refusedWith("WRONG_STATE"));
  });
});

describe("a standby", () => {
  it("applies nothing that is not committed", async (test) => {
    const { trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await primary.promote(1, ["te-1", "te-2"], { k: 2 });
    await second.follow(1, primary);
    await eventually("te-1 holds the epoch", () => second.journal.durable.seq === 1);
    assert.equal(second.exchange.appliedSeq, 0);
    await third.follow(1, primary);
    await applied(second, 1);
  });

  it("that applied what its primary never had ends instead of guessing", async (test) => {
    const root = await temporaryDirectory(test);
    const [one, other] = [await startOne(test, root, "te-0"), await startOne(test, root, "te-1")];
    await one.promote(1, [], { k: 0 });
    await acknowledge(one, "committed-alone");
    await other.promote(2, [], { k: 0 });
    await one.follow(2, other);
    await eventually("the divergence is noticed", () => one.failures.length > 0);
    assert.equal(one.failures[0]?.reason, "diverged");
  });

  it("knows after a restart what was committed, without asking", async (test) => {
    const { root, trio } = await startTrio(test);
    const [primary, second, third] = trio;
    await lead(1, primary, second, third);
    for (let count = 0; count < 10; count += 1) await acknowledge(primary, `order-${count}`);
    await eventually("te-1 holds all", () => second.journal.durable.seq === 11);
    await second.stop();
    const again = await startOne(test, root, "te-1");
    assert.ok(again.exchange.appliedSeq >= 9, `applied ${again.exchange.appliedSeq} of 11 records`);
    assert.equal(again.replica.standing.role, "standby");
  });
});
