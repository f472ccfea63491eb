import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import { machine } from "../process/machine.ts";
import { eventually } from "../testing/eventually.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { TestReplica } from "../testing/testReplica.ts";
import { Grant } from "./grant.ts";
import { ask } from "./orderDesk.ts";
import { Refusal } from "./refusal.ts";

describe("a grant", () => {
  it("ends after its time, and lasts longer when it is renewed", () => {
    let now = 1_000;
    const grant = new Grant(() => now);
    assert.deepEqual([grant.valid, grant.remainingMs], [false, 0]);
    grant.renew(500);
    assert.deepEqual([grant.valid, grant.remainingMs], [true, 500]);
    now += 499;
    assert.equal(grant.valid, true);
    grant.renew(500);
    now += 499;
    assert.equal(grant.valid, true);
    now += 1;
    assert.deepEqual([grant.valid, grant.remainingMs], [false, 0]);
  });
});

/** A replica whose boot clock is set by the test: it can sleep through hours. */
const start = async (test: TestContext): Promise<{ replica: TestReplica; sleep: (ms: number) => void }> => {
  let bootMs = 0;
  const dataDir = join(await temporaryDirectory(test), "te-0");
  await mkdir(dataDir);
  const replica = await TestReplica.start(test, { instance: "te-0", dataDir, bootClock: () => bootMs });
  return {
    replica,
    sleep: (ms) => {
      bootMs += ms;
    },
  };
};

const gateOf = ({ replica }: TestReplica): string => {
  assert.ok("term" in replica.standing);
  const gate = replica.standing.term.gate();
  return gate.kind === "shut" ? gate.why : gate.kind;
};

const open = (replica: TestReplica): Promise<void> => eventually("it takes orders", () => gateOf(replica) === "open");

describe("a primary whose orders no standby has to hold", () => {
  it("acknowledges nothing before it has a grant, and does with one", async (test) => {
    const { replica } = await start(test);
    await replica.promote(1, ["te-1"], { k: 0 });
    const refused = await replica.place("one");
    assert.equal(refused.kind, "cannotCommit");
    assert.match("why" in refused ? refused.why : "", /no valid grant/);
    replica.grant(1, 60_000);
    await open(replica);
    assert.equal((await replica.place("one")).kind, "placed");
  });

  it("stops when the grant ends, though it slept through the end, and goes on with the next one", async (test) => {
    const { replica, sleep } = await start(test);
    await replica.promote(1, ["te-1"], { k: 0 });
    replica.grant(1, 60_000);
    await open(replica);
    sleep(60_000);
    // No heartbeat has passed: the order may still be sequenced, but it is not acknowledged.
    assert.notEqual((await replica.place("one")).kind, "placed");
    assert.match(gateOf(replica), /no valid grant/);
    replica.grant(1, 60_000);
    await open(replica);
    assert.equal((await replica.place("two")).kind, "placed");
  });

  it("does not say that there is no such order without a grant: another primary may know better", async (test) => {
    const { replica, sleep } = await start(test);
    await replica.promote(1, ["te-1"], { k: 0 });
    replica.grant(1, 60_000);
    await open(replica);
    sleep(60_000);
    await eventually("it has noticed", () => gateOf(replica) !== "open");
    const { standing } = replica.replica;
    assert.ok("desk" in standing);
    const { desk } = standing;
    const outcome = await ask(machine.clock(), (question) =>
      desk.find({ account: "", clientId: "never placed" }, question),
    );
    assert.equal(outcome.kind, "cannotCommit");
  });

  it("needs no grant when it is alone: nobody else can be made primary", async (test) => {
    const { replica } = await start(test);
    await replica.promote(1, [], { k: 0 });
    await open(replica);
    assert.equal((await replica.place("one")).kind, "placed");
    await replica.replica.setMembers({ ...replica.identity(1), version: 2, members: ["te-1"], k: 0 });
    assert.match(gateOf(replica), /no valid grant/);
  });

  it("begins each epoch without a grant", async (test) => {
    const { replica } = await start(test);
    await replica.promote(1, ["te-1"], { k: 0 });
    replica.grant(1, 60_000);
    await open(replica);
    await replica.demote(1);
    await replica.promote(2, ["te-1"], { k: 0 });
    assert.match(gateOf(replica), /no valid grant/);
  });

  it("is granted nothing for another epoch, and nothing while it does not lead", async (test) => {
    const { replica } = await start(test);
    const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
    assert.throws(() => replica.grant(1, 1_000), refused("WRONG_STATE"));
    await replica.promote(2, ["te-1"], { k: 0 });
    assert.throws(() => replica.grant(1, 1_000), refused("STALE_EPOCH"));
    assert.throws(() => replica.grant(3, 1_000), refused("WRONG_STATE"));
    await replica.fence(3);
    assert.throws(() => replica.grant(2, 1_000), refused("STALE_EPOCH"));
  });
});
