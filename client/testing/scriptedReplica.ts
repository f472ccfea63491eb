import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";

import { correlationAt, FrameReader, readRequest, type StreamRequest } from "../../engine/orders/stream/frameReader.ts";
import { FrameWriter } from "../../engine/orders/stream/frameWriter.ts";
import { maxRequestBytes, protocolName, type Welcome } from "../../engine/orders/stream/protocol.ts";

export type OnRequest = (request: StreamRequest, correlation: number, stream: ScriptedStream) => void;

/** One client's stream at a scripted replica. */
export class ScriptedStream {
  readonly requests: StreamRequest[] = [];
  readonly #socket: Socket;

  constructor(socket: Socket, onRequest: OnRequest) {
    this.#socket = socket;
    const reader = new FrameReader(maxRequestBytes);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      reader.push(chunk);
      while (reader.advance()) {
        const request = readRequest(reader.bytes, reader.start, reader.end);
        this.requests.push(request);
        onRequest(request, correlationAt(reader.bytes, reader.start), this);
      }
    });
  }

  send(write: (writer: FrameWriter) => void): void {
    const writer = new FrameWriter();
    write(writer);
    this.#socket.write(writer.take());
  }

  placed(correlation: number, epoch: number, seq: number, duplicate = false): void {
    const frame = {
      status: "resting",
      reason: null,
      duplicate,
      epoch,
      seq,
      filled: 0,
      trades: [],
      increments: null,
    } as const;
    this.send((writer) => writer.placed(correlation, frame));
  }

  cut(): void {
    this.#socket.destroy();
  }
}

type Behaviour =
  /** Says who leads, or that nobody is known to. */
  | { readonly kind: "standby"; readonly leader: string | null }
  | {
      readonly kind: "primary";
      readonly welcome?: Partial<Welcome>;
      readonly onRequest: OnRequest;
    };

/** A replica that does what a test says, right or wrong. */
export class ScriptedReplica {
  behaviour: Behaviour = { kind: "standby", leader: null };
  readonly streams: ScriptedStream[] = [];
  asked = 0;
  #server: Server | null = null;
  #address = "";

  static async start(test: Pick<TestContext, "after">): Promise<ScriptedReplica> {
    const replica = new ScriptedReplica();
    const server = createServer();
    server.on("upgrade", (_, socket) => replica.#upgrade(socket as unknown as Socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const bound = server.address();
    replica.#address = `127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}`;
    replica.#server = server;
    test.after(() => replica.stop());
    return replica;
  }

  get address(): string {
    return this.#address;
  }

  get stream(): ScriptedStream {
    const last = this.streams.at(-1);
    if (last === undefined) throw new Error("no client has come yet");
    return last;
  }

  stop(): void {
    for (const stream of this.streams) stream.cut();
    this.#server?.close();
  }

  #upgrade(socket: Socket): void {
    this.asked += 1;
    const { behaviour } = this;
    if (behaviour.kind === "standby") {
      const leader = behaviour.leader === null ? null : { instance: "te-1", orders: behaviour.leader };
      const body = JSON.stringify({ code: "NOT_PRIMARY", leader });
      socket.end(`HTTP/1.1 421 Refused\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      return;
    }
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocolName}\r\n\r\n`);
    const stream = new ScriptedStream(socket, behaviour.onRequest);
    this.streams.push(stream);
    stream.send((writer) => writer.welcome({ ...aWelcome, ...behaviour.welcome }));
  }
}

const aWelcome: Welcome = {
  instance: "te-0",
  epoch: 1,
  tradingPair: "BTC/USDT",
  tickSize: "0.01",
  lotSize: "0.00001",
  committed: 1,
  window: 100,
  heartbeatMs: 250,
  silenceMs: 10_000,
};
