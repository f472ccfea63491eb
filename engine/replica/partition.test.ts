import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import { eventually } from "../testing/eventually.ts";
import { LocalNetwork } from "../testing/localNetwork.ts";
import { temporaryDirectory } from "../testing/temporaryDirectory.ts";
import { TestReplica } from "../testing/testReplica.ts";
import { ask } from "./orderDesk.ts";

interface Pair {
  readonly primary: TestReplica;
  readonly standby: TestReplica;
  /** Between the two. */
  readonly network: LocalNetwork;
}

/** A primary of epoch 1 and the one standby that it needs, with a network between them that a test can break. */
const startPair = async (test: TestContext): Promise<Pair> => {
  const root = await temporaryDirectory(test);
  const start = async (instance: string): Promise<TestReplica> => {
    const dataDir = join(root, instance);
    await mkdir(dataDir);
    return TestReplica.start(test, { instance, dataDir });
  };
  const [primary, standby] = [await start("te-0"), await start("te-1")];
  const network = await LocalNetwork.inFrontOf(test, primary.address);
  await primary.promote(1, ["te-1"]);
  const upstream = { instance: "te-0", replication: network.address, orders: "te-0:7000" };
  await standby.replica.follow({ ...standby.identity(1), upstream });
  await eventually("taking orders", () => gateOf(primary) === "open");
  return { primary, standby, network };
};

const gateOf = ({ replica }: TestReplica): string =>
  "term" in replica.standing ? replica.standing.term.gate().kind : replica.standing.role;

const upstreamOf = ({ replica }: TestReplica) => {
  const { standing } = replica;
  assert.ok("following" in standing && standing.following !== null);
  return standing.following.link;
};

describe("a standby whose connection is cut", () => {
  it("comes back by itself and misses nothing", async (test) => {
    const { primary, standby, network } = await startPair(test);
    assert.equal((await primary.place("before")).kind, "placed");
    network.cut();
    await eventually("it is noticed", () => !upstreamOf(standby).connected);
    await eventually("it is back", () => upstreamOf(standby).connected && gateOf(primary) === "open");
    assert.equal((await primary.place("after")).kind, "placed");
    await eventually("all is applied", () => standby.exchange.appliedSeq === 3);
    assert.deepEqual(standby.exchange.lastHash, primary.exchange.lastHash);
    assert.equal(standby.journal.size.cutTails, 0);
  });

  it("gets what was sequenced meanwhile, and the order is acknowledged", async (test) => {
    const { primary, standby, network } = await startPair(test);
    network.silence();
    const order = primary.place("in-between");
    network.cut();
    network.speak();
    assert.equal((await order).kind, "placed");
    await eventually("it is applied", () => standby.exchange.orderOf("in-between") !== undefined);
  });
});

describe("a primary that its standby does not hear", () => {
  it("stops taking orders, answers UNKNOWN for what it took, and recovers when it is heard again", async (test) => {
    const { primary, standby, network } = await startPair(test);
    network.silence();
    const taken = primary.place("taken");
    await eventually("shut", () => gateOf(primary) === "shut");
    assert.equal((await primary.place("refused")).kind, "cannotCommit");
    assert.equal((await taken).kind, "unknown");
    network.cut();
    network.speak();
    await eventually("open", () => gateOf(primary) === "open");
    const again = await primary.place("taken");
    assert.ok(again.kind === "placed" && again.duplicate, "the same order, now acknowledged");
    await eventually("applied", () => standby.exchange.orderOf("taken") !== undefined);
    assert.equal(standby.exchange.orderOf("refused"), undefined);
  });

  it("is given up by the standby, which says when it last heard it", async (test) => {
    const { standby, network } = await startPair(test);
    network.silence();
    await eventually("given up", () => !upstreamOf(standby).connected);
    assert.notEqual(upstreamOf(standby).lastHeardAt, null);
  });

  it("does not deny an order that a newer primary may have", async (test) => {
    const { primary, network } = await startPair(test);
    network.silence();
    const { standing } = primary.replica;
    assert.ok("desk" in standing);
    const { desk } = standing;
    assert.equal(
      (await ask(0, (question) => desk.find({ account: "", clientId: "unknown-here" }, question))).kind,
      "cannotCommit",
    );
  });
});

describe("acknowledgements that were delayed in the network", () => {
  it("do not count after the standby has promised a newer epoch", async (test) => {
    const { primary, standby, network } = await startPair(test);
    network.silence();
    const order = primary.place("too-late");
    const { durable } = await standby.fence(2);
    network.speak();
    assert.notEqual((await order).kind, "placed");
    assert.equal(durable.seq, 1);
  });
});
