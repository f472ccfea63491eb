import { connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

import type { ListenAddress } from "../process/config.ts";

/**
 * A connection that a test can cut or silence: it listens in front of `target`. Silenced, it stays open and
 * passes nothing on, as a network does that drops packets.
 */
export class LocalNetwork {
  readonly address: ListenAddress;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #silent = false;

  private constructor(server: Server, address: ListenAddress) {
    this.#server = server;
    this.address = address;
  }

  static async inFrontOf(test: Pick<TestContext, "after">, target: ListenAddress): Promise<LocalNetwork> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const bound = server.address();
    if (typeof bound !== "object" || bound === null) throw new Error("a TCP server has a port");
    const network = new LocalNetwork(server, { host: "127.0.0.1", port: bound.port });
    server.on("connection", (socket) => network.#join(socket, connect(target)));
    test.after(() => network.close());
    return network;
  }

  /** Ends all connections; new ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Passes nothing on from now on; what was held back goes out when it speaks again. */
  silence(): void {
    this.#silent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  speak(): void {
    this.#silent = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(a: Socket, b: Socket): void {
    this.#forward(a, b);
    this.#forward(b, a);
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on("data", (chunk) => to.write(chunk));
    from.on("error", () => from.destroy());
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    if (this.#silent) from.pause();
  }
}
