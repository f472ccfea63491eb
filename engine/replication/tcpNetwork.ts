import { connect, createServer, type Socket } from "node:net";

import { listen } from "../process/listen.ts";
import type { Connection, Network } from "./network.ts";

/** Real connections. */
export const tcpNetwork: Network = {
  connect: ({ host, port }) => new TcpConnection(connect({ host, port, noDelay: true })),

  async listen(address, variable, serve) {
    const server = createServer({ noDelay: true }, (socket) => serve(new TcpConnection(socket)));
    const bound = await listen(server, address, variable);
    return {
      address: bound,
      close: () => new Promise((resolve) => server.close(() => resolve())),
    };
  },
};

class TcpConnection implements Connection {
  readonly #socket: Socket;
  #error: Error | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", (error) => {
      this.#error = error;
    });
  }

  get closed(): boolean {
    return this.#socket.destroyed;
  }

  write(...pieces: readonly Uint8Array[]): boolean {
    let room = true;
    this.#socket.cork();
    for (const piece of pieces) room = this.#socket.write(piece);
    this.#socket.uncork();
    return room;
  }

  end(bytes: Uint8Array): void {
    this.#socket.end(bytes);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  closeWhenSilentFor(milliseconds: number | null): void {
    this.#socket.removeAllListeners("timeout");
    this.#socket.setTimeout(milliseconds ?? 0, () => this.#socket.destroy());
  }

  onOpen(listener: () => void): void {
    this.#socket.on("connect", listener);
  }

  onData(listener: (bytes: Buffer) => void): void {
    this.#socket.on("data", listener);
  }

  onDrain(listener: () => void): void {
    this.#socket.on("drain", listener);
  }

  onClose(listener: (error: Error | null) => void): void {
    this.#socket.on("close", () => listener(this.#error));
  }
}
