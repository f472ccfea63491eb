import { createServer } from "node:http";
import type { TestContext } from "node:test";

import type { StreamLimits } from "../orders/stream/orderStream.ts";
import { StreamServer } from "../orders/stream/streamServer.ts";
import type { ListenAddress } from "../process/config.ts";
import { listen } from "../process/listen.ts";
import { machine } from "../process/machine.ts";
import { StreamClient } from "./streamClient.ts";
import { temporaryDirectory } from "./temporaryDirectory.ts";
import { TestReplica, testRules } from "./testReplica.ts";

const patientLimits: StreamLimits = { window: 4_096, heartbeatMs: 20, silenceMs: 60_000, stuckMs: 60_000 };

/** A replica with the port of its order streams, and without the rest of an engine. */
export class StreamHost {
  readonly replica: TestReplica;
  readonly streams: StreamServer;
  readonly address: ListenAddress;
  readonly #test: Pick<TestContext, "after">;

  private constructor(
    test: Pick<TestContext, "after">,
    replica: TestReplica,
    streams: StreamServer,
    address: ListenAddress,
  ) {
    this.#test = test;
    this.replica = replica;
    this.streams = streams;
    this.address = address;
  }

  static async start(test: Pick<TestContext, "after">, limits: Partial<StreamLimits> = {}): Promise<StreamHost> {
    const dataDir = await temporaryDirectory(test);
    const replica = await TestReplica.start(test, {
      instance: "te-0",
      dataDir,
      // No answer of a stream is to be UNKNOWN because the machine is busy.
      limits: { commitTimeoutMs: 60_000 },
    });
    const streams = new StreamServer({
      replica: replica.replica,
      instance: "te-0",
      rules: testRules,
      limits: { ...patientLimits, ...limits },
      clock: machine.clock,
      onAnswered: () => undefined,
    });
    const server = createServer();
    server.on("upgrade", (request, socket, head) => streams.upgrade(request, socket, head));
    const address = await listen(server, { host: "127.0.0.1", port: 0 }, "a port");
    const timer = setInterval(() => streams.tick(), 10);
    test.after(() => {
      clearInterval(timer);
      server.close();
    });
    return new StreamHost(test, replica, streams, address);
  }

  /** One that leads epoch 1 alone. */
  static async leading(test: Pick<TestContext, "after">, limits: Partial<StreamLimits> = {}): Promise<StreamHost> {
    const host = await StreamHost.start(test, limits);
    await host.replica.promote(1, [], { k: 0 });
    return host;
  }

  async open(): Promise<StreamClient> {
    const stream = await StreamClient.open(this.address);
    this.#test.after(() => stream.socket.destroy());
    return stream;
  }
}
