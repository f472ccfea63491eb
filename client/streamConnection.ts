import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";

import { type Answer, FrameReader, readAnswer } from "../engine/orders/stream/frameReader.ts";
import { FrameWriter } from "../engine/orders/stream/frameWriter.ts";
import { maxAnswerBytes, protocolName, streamPath, type Welcome } from "../engine/orders/stream/protocol.ts";

/** Why a connection ended. */
export type ConnectionEnd =
  /** Another replica is the primary: `leader` as host:port of its order entry, null when it is not known. */
  | { readonly kind: "redirected"; readonly leader: string | null }
  | { readonly kind: "failed"; readonly reason: string };

export interface ConnectionEvents {
  /** The replica leads, and takes orders. */
  onWelcome(connection: StreamConnection, welcome: Welcome): void;
  onAnswer(connection: StreamConnection, answer: Answer): void;
  /** Called once, and nothing is called after it. */
  onEnd(connection: StreamConnection, end: ConnectionEnd): void;
}

export interface StreamConnectionOptions {
  /** host:port */
  readonly address: string;
  readonly connectTimeoutMs: number;
  readonly clock: () => number;
  readonly events: ConnectionEvents;
}

/** One connection to one replica: an HTTP request that becomes an order stream, if the replica leads. */
export class StreamConnection {
  readonly address: string;
  readonly #options: StreamConnectionOptions;
  readonly #reader = new FrameReader(maxAnswerBytes);
  readonly #writer = new FrameWriter();
  #socket: Socket | null = null;
  #ended = false;
  #flushScheduled = false;
  #heardAt: number;
  #spokeAt: number;

  constructor(options: StreamConnectionOptions) {
    this.#options = options;
    this.address = options.address;
    this.#heardAt = options.clock();
    this.#spokeAt = this.#heardAt;
    this.#connect();
  }

  /** When the replica was last heard. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** When something was last sent. */
  get spokeAt(): number {
    return this.#spokeAt;
  }

  /** Where to encode what is to be sent; it goes out at the end of this turn of the event loop. */
  get out(): FrameWriter {
    if (!this.#flushScheduled) {
      this.#flushScheduled = true;
      setImmediate(() => this.#flush());
    }
    return this.#writer;
  }

  /** Ends the connection at once. What arrives later is ignored. */
  drop(): void {
    this.#end({ kind: "failed", reason: "dropped" });
  }

  /** Says goodbye and lets the replica close. */
  leave(): void {
    this.out.leave();
  }

  #connect(): void {
    const { host, port } = split(this.address);
    const headers = { connection: "Upgrade", upgrade: protocolName };
    const asked = request({ host, port, path: streamPath, headers, agent: false });
    const timer = setTimeout(() => {
      this.#end({ kind: "failed", reason: "no connection in time" });
      asked.destroy();
    }, this.#options.connectTimeoutMs);
    asked.on("upgrade", (_, socket: Socket, head: Buffer) => {
      clearTimeout(timer);
      this.#upgraded(socket, head);
    });
    asked.on("response", (response) => {
      clearTimeout(timer);
      void this.#refused(response).then(() => asked.destroy());
    });
    asked.on("error", (error) => {
      clearTimeout(timer);
      this.#end({ kind: "failed", reason: error.message });
    });
    asked.end();
  }

  #upgraded(socket: Socket, head: Buffer): void {
    this.#socket = socket;
    socket.on("error", (error) => this.#end({ kind: "failed", reason: error.message }));
    socket.on("close", () => this.#end({ kind: "failed", reason: "the replica closed the connection" }));
    if (this.#ended) {
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    if (head.length > 0) this.#read(head);
  }

  async #refused(response: IncomingMessage): Promise<void> {
    let text = "";
    try {
      for await (const chunk of response) text += String(chunk).slice(0, 10_000);
    } catch {
      // The status alone says enough.
    }
    if (response.statusCode === 421) this.#end({ kind: "redirected", leader: leaderIn(text) });
    else this.#end({ kind: "failed", reason: `answered ${response.statusCode}` });
  }

  #read(chunk: Buffer): void {
    if (this.#ended) return;
    this.#heardAt = this.#options.clock();
    this.#reader.push(chunk);
    try {
      while (this.#reader.advance()) {
        this.#tell(readAnswer(this.#reader.bytes, this.#reader.start, this.#reader.end));
      }
    } catch (error) {
      this.#end({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #tell(answer: Answer): void {
    const { events } = this.#options;
    if (this.#ended) return;
    if (answer.type === "welcome") events.onWelcome(this, answer.welcome);
    else events.onAnswer(this, answer);
  }

  #flush(): void {
    this.#flushScheduled = false;
    if (this.#ended || this.#socket === null || this.#writer.length === 0) return;
    this.#spokeAt = this.#options.clock();
    this.#socket.write(this.#writer.take());
  }

  #end(end: ConnectionEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket?.destroy();
    this.#options.events.onEnd(this, end);
  }
}

const split = (address: string): { host: string; port: number } => {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(address.slice(colon + 1)) };
};

/** The leader that a 421 names. */
export const leaderIn = (problemJson: string): string | null => {
  try {
    const body = JSON.parse(problemJson) as { leader?: { orders?: unknown } | null };
    const orders = body.leader?.orders;
    return typeof orders === "string" && orders !== "" ? orders : null;
  } catch {
    return null;
  }
};
