import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Connection } from "../../replication/network.ts";
import { seededRandom } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { SimulatedNetwork } from "./simulatedNetwork.ts";
import { SimulatedProcess } from "./simulatedProcess.ts";

interface End {
  readonly connection: Connection;
  received: string;
  closed: string | null;
}

const watch = (connection: Connection): End => {
  const end: End = { connection, received: "", closed: null };
  connection.onData((bytes) => {
    end.received += bytes.toString();
  });
  connection.onClose((error) => {
    end.closed = error === null ? "closed" : error.message;
  });
  return end;
};

/** Two hosts, a and b, and a connection from a to b. */
const connected = async (seed = 1) => {
  const scheduler = new Scheduler();
  const network = new SimulatedNetwork(scheduler, seededRandom(seed));
  const [a, b] = [new SimulatedProcess(scheduler), new SimulatedProcess(scheduler)];
  const accepted: End[] = [];
  const address = { host: "b", port: 1 };
  await network.of("b", b).listen(address, "PORT", (connection) => accepted.push(watch(connection)));
  const client = watch(network.of("a", a).connect(address));
  const opened: number[] = [];
  client.connection.onOpen(() => opened.push(scheduler.now));
  const later = (): Promise<boolean> => scheduler.runUntil(() => false, scheduler.now + 100);
  await later();
  const [server] = accepted;
  assert.equal(opened.length, 1);
  assert.ok(server !== undefined);
  return { network, a, b, client, server, later, address };
};

describe("the simulated network", () => {
  it("delivers in order, in whatever pieces", async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const { client, server, later } = await connected(seed);
      for (const word of ["one ", "two ", "three"]) client.connection.write(Buffer.from(word));
      server.connection.write(Buffer.from("an"), Buffer.from("swer"));
      await later();
      assert.deepEqual([server.received, client.received], ["one two three", "answer"]);
    }
  });

  it("holds back what goes in a blocked direction, and lets the other pass", async () => {
    const { network, client, server, later } = await connected();
    network.block("a", "b");
    client.connection.write(Buffer.from("held"));
    server.connection.write(Buffer.from("passes"));
    await later();
    assert.deepEqual([server.received, client.received], ["", "passes"]);
    network.heal();
    await later();
    assert.equal(server.received, "held");
  });

  it("tells both sides of a reset, and nobody of a machine that is off", async () => {
    const broken = await connected();
    broken.network.reset("b");
    await broken.later();
    assert.deepEqual([broken.client.closed, broken.server.closed], ["connection reset", "connection reset"]);
    const off = await connected();
    off.b.end();
    off.network.losePower("b", off.b);
    off.client.connection.write(Buffer.from("anyone?"));
    await off.later();
    assert.equal(off.client.closed, null, "half-open");
  });

  it("closes the connections of a process that has ended, and refuses new ones", async () => {
    const { network, a, b, client, later, address } = await connected();
    b.end();
    network.loseProcess(b);
    await later();
    assert.equal(client.closed, "closed");
    const refused = watch(network.of("a", a).connect(address));
    await later();
    assert.equal(refused.closed, "connection refused");
  });

  it("closes what was silent for too long, in either direction", async () => {
    const { client, server, later } = await connected();
    client.connection.closeWhenSilentFor(50);
    await later();
    assert.deepEqual([client.closed, server.closed], ["closed", "closed"]);
  });

  it("makes a writer wait for a reader that stands still, and tells it when there is room", async () => {
    const { b, client, server, later } = await connected();
    let drained = 0;
    client.connection.onDrain(() => {
      drained += 1;
    });
    b.stop();
    assert.equal(client.connection.write(Buffer.alloc(4_000, "x")), false);
    await later();
    assert.deepEqual([drained, server.received.length], [0, 0]);
    b.go();
    await later();
    assert.deepEqual([drained, server.received.length], [1, 4_000]);
  });
});
